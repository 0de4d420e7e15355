"""Finds the packages of a script: where another Python stands first on the path, the distribution's own has them.

    import packages
    packages.need("h5py", "numpy")      before these are imported
"""
import importlib.util
import os
import sys

DISTRIBUTION = "/usr/bin/python3"  # the one that packages of the distribution are for


def need(*names):
    """Goes on if this Python has the packages; else starts the script again, by the distribution's Python. Ends the
    script with exit code 1 where that lacks them too."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return
    is_environment = sys.prefix != sys.base_prefix
    is_distribution = os.path.realpath(sys.executable) == os.path.realpath(DISTRIBUTION) and not is_environment
    if is_distribution or not os.path.exists(DISTRIBUTION):
        debian = " ".join(f"python3-{name}" for name in missing)
        sys.exit(f"{sys.argv[0]} needs the Python packages {', '.join(missing)}. On Debian: apt-get install {debian}")
    os.execv(DISTRIBUTION, [DISTRIBUTION, *sys.argv])
