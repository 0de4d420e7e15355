#!/usr/bin/env bash
# Builds the fuzz targets of the readers with Clang and both sanitizers, and lets libFuzzer feed each of them:
#   tests/fuzz/run.sh [SECONDS]     for so long each (60; more looks deeper), two at a time
# Starts from tests/fuzz/corpus, the shipped decks and what earlier runs found (build/fuzz/corpus). An input that ends a
# target badly is left in build/fuzz/findings, and the exit code is 1. Exit code 77: there is no clang++-19.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
if ! command -v clang++-19 >/dev/null; then
  echo "There is no clang++-19 here: the readers are not fuzzed." >&2
  exit 77
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset fuzz && cmake --build --preset fuzz --target fuzz; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "The fuzz targets could not be built; the last lines stand above." >&2
  exit 1
fi

. jobs/environment.sh
export ASAN_OPTIONS=detect_leaks=0 # MPI keeps what it has until the process ends
export UCX_MEM_EVENTS=no           # UCX, where MPI loads it, patches the functions that the sanitizers have patched
build=build/fuzz
mkdir -p $build/findings
fuzz() {
  local target=$1 corpus=$build/corpus/$1
  mkdir -p "$corpus"
  [ "$target" = deck ] && cp decks/*.yaml "$corpus"
  if $build/bin/fuzz_"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=8192 -print_final_stats=1 \
       -artifact_prefix=$build/findings/"$target"- "$corpus" tests/fuzz/corpus/"$target" >"$build/$target.log" 2>&1; then
    grep -E "DONE|number_of_executed_units" "$build/$target.log" | tr '\n' ' ' | sed "s/^/$target: /"
    echo
  else
    tail -n 60 "$build/$target.log" >&2
    echo "$target: libFuzzer found an input that must not be read so; see above and $build/findings" >&2
    return 1
  fi
}
export -f fuzz
export build seconds
printf '%s\n' deck obj ply stl curves_obj curves_hair curves_bcc tets checkpoint frame state | xargs -P 2 -I TARGET bash -c 'fuzz TARGET'
