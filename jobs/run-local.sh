#!/usr/bin/env bash
# Runs a deck on this machine and leaves a picture: installs packages, builds, runs on 2 ranks, draws the last frame.
#   jobs/run-local.sh DECK [arguments of `weft run`]
# Works from any folder. Results go to out/<deck> beside this script's folder, or to out/<deck>-2, -3, ... when that is
# taken; `--output DIR` chooses another folder and `--resume auto` goes on in the newest. WEFT_RANKS and OMP_NUM_THREADS
# set the ranks (2) and the threads of each (1).
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

if [ $# -lt 1 ] || [[ "$1" == -* ]]; then
  echo "usage: jobs/run-local.sh DECK [arguments of \`weft run\`]      e.g. jobs/run-local.sh decks/quickstart.yaml" >&2
  exit 2
fi
deck=$1
shift
if [ ! -f "$deck" ]; then
  echo "There is no deck $deck. The decks that come with Weft: $(cd "$root" && echo decks/*.yaml)" >&2
  exit 2
fi

name=$(basename "${deck%.*}")
output=""
resume=no
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    -o|--output) output=${2:?--output needs a folder}; shift ;;
    --output=*) output=${1#*=} ;;
    -o?*) output=${1#-o} ;;
    --resume|--resume=*) resume=yes; arguments+=("$1") ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
if [ -z "$output" ]; then
  output=$root/out/$name
  for ((i = 2; ; ++i)); do
    next=$root/out/$name-$i
    if [ $resume = yes ]; then [ -e "$next" ] || break; else [ -e "$output" ] || break; fi
    output=$next
  done
fi

bash "$root/jobs/install-packages.sh"
. "$root/jobs/environment.sh"
echo "Building (the first time takes some minutes) ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! (cd "$root" && cmake --preset release && cmake --build --preset release --target weft) >"$log" 2>&1; then
  tail -n 60 "$log" >&2
  echo "The build failed; its last lines stand above." >&2
  exit 1
fi

status=0
mpiexec -n "${WEFT_RANKS:-2}" "$root/build/release/bin/weft" run "$deck" --output "$output" \
  ${arguments[@]+"${arguments[@]}"} || status=$?
if [ $status -ne 0 ]; then
  echo "weft ended with exit code $status (docs/running.md says what it means). Whatever was written is in $output" >&2
  exit $status
fi
"$root/postproc/render.py" "$output"
movie=$(printf '%q %q --movie %q' "$root/postproc/render.py" "$output" "$output/movie.mp4")
echo
echo "Results:  $output"
echo "Picture:  $output/picture.png"
echo "Numbers:  $output/diagnostics.csv"
echo "Movie:    $movie"
echo "ParaView: open $output/frames/*.hdf.series"
