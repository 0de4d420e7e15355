#!/usr/bin/env bash
# Installs what is missing, builds the release preset with warnings as errors, and runs the tests.
#   tests/run.sh           the tests labelled ci (about 40 minutes after the build on two cores)
#   tests/run.sh --full    every test, the long verification cases included
# The last lines are ctest's summary; the exit code is not zero if anything failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

selection=(-L ci)
case "${1:-}" in
  "") ;;
  --full) selection=() ;;
  *) echo "usage: tests/run.sh [--full]" >&2; exit 2 ;;
esac

bash jobs/install-packages.sh
. jobs/environment.sh
cores=$(env -u OMP_NUM_THREADS nproc)  # nproc would heed the threads of a rank
echo "== Configure"
cmake --preset release -D WEFT_WARNINGS_AS_ERRORS=ON -D WEFT_TESTS=ON -D WEFT_BENCHMARKS=ON --log-level=WARNING
echo "== Build"
cmake --build --preset release --parallel "$cores"
echo "== Test"
# One more than there are cores: tests of the program often wait for processes to start and for disks.
exec ctest --preset release --no-tests=error --parallel $((cores + 1)) ${selection[@]+"${selection[@]}"}
