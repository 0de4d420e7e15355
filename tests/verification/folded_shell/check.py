"""No triangle of the limit surface crosses another one and none is turned over; see README.md."""
import importlib.util
import pathlib

SPEC = importlib.util.spec_from_file_location(
    "card_stack", pathlib.Path(__file__).resolve().parents[1] / "card_stack" / "check.py")
stack = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(stack)

RUNS = {"quick": {"fold": []}, "full": {"fold": ["--set", "time.end=5.2", "--set", "time.frame_interval=0.52"]}}


def check(runs, size):
    return stack.findings(runs, "fold", "strip", size)
