#!/usr/bin/env bash
# Installs the packages of Debian 12 that Weft is built, tested and drawn with (Ubuntu 24.04 not tried). Does nothing
# when all are there.
# Run as root or by a user with sudo. This is the one list of packages.
set -euo pipefail

packages=(
  # build
  g++ cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libpetsc-real-dev libeigen3-dev libhdf5-openmpi-dev
  libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libopenvdb-dev libboost-dev libtbb-dev libosd-dev
  # matrices: PETSc and MUMPS run on the reference BLAS as well, at half the speed
  libopenblas0-serial
  # tests
  libgtest-dev libgmock-dev libbenchmark-dev python3 python3-h5py python3-numpy python3-jsonschema python3-yaml
  clang-19 libclang-rt-19-dev libomp-19-dev clang-format-19 clang-tidy-19 slurm-wlm python3-sphinx python3-myst-parser furo
  # pictures
  python3-matplotlib paraview python3-paraview xvfb xauth ffmpeg
)

if ! command -v dpkg-query >/dev/null; then
  echo "This script needs apt, the package manager of Debian. Please install the counterparts of: ${packages[*]}" >&2
  exit 1
fi
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing and only root can install them. Ask for: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 -qq "$@"; }
echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "The packages could not be installed; the last lines of apt-get stand above." >&2
  exit 1
fi
