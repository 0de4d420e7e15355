#!/usr/bin/env bash
# Says whether the tree is formatted, and what clang-tidy finds in changed files (.clang-format, .clang-tidy).
#   tests/lint.sh [--full] [--build FOLDER]
# Changed is what differs from where the branch left origin/main, else from the last commit; the sources that changed, and
# one for each changed header that includes it; at most 20, the smallest first. --full: all sources. The build folder
# [build/release] says how sources are compiled. Exit code 1 for findings, 77 where a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

most=20
full=false
build=build/release
while [ $# -gt 0 ]; do
  case "$1" in
    --full) full=true ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    *) echo "usage: tests/lint.sh [--full] [--build FOLDER]" >&2; exit 2 ;;
  esac
  shift
done
for tool in clang-format-19 clang-tidy-19; do
  command -v "$tool" >/dev/null || { echo "$tool is missing (jobs/install-packages.sh)" >&2; exit 77; }
done
[ -f "$build/compile_commands.json" ] || { echo "$build/compile_commands.json is missing: configure first" >&2; exit 77; }
cores=$(env -u OMP_NUM_THREADS nproc)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=false
echo "== Format"
find include src tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -P "$cores" -n 40 clang-format-19 --dry-run -Werror || failed=true

# Git trusts no folder of another user, as containers have it, unless it is told to.
repository() { git -c safe.directory="$PWD" "$@" 2>/dev/null; }

changed_files() {
  local base
  base=$(repository merge-base HEAD origin/main) || base=
  if [ -z "$base" ] || [ "$base" = "$(repository rev-parse HEAD)" ]; then base=HEAD~1; fi
  repository diff --name-only --diff-filter=d --relative "$base" -- src include tests || return 1
  repository ls-files --others --exclude-standard -- src include tests
}

# GCC's own options, and what it compiled beforehand, mean nothing to clang; -march would make findings depend on the
# machine. Boost, which OpenVDB includes, has constants that clang refuses.
sed -E 's/ -W[^ "\\]*//g; s/ -include [^ ]*cmake_pch\.hxx//g; s/ -march=[^ "\\]*//g' "$build/compile_commands.json" \
  >"$scratch/compile_commands.json"
here=$(printf '%s|' "$PWD" "$(pwd -P)")
sed -nE 's#^ *"file": "(.*)",?$#\1#p' "$scratch/compile_commands.json" | sed -E "s#^(${here%|})/##" |
  { grep -E '^(src|tests)/' || true; } | sort -u >"$scratch/compiled"
[ -s "$scratch/compiled" ] || { echo "$build/compile_commands.json is not of this folder" >&2; exit 1; }

if $full; then
  cp "$scratch/compiled" "$scratch/chosen"
elif changed_files >"$scratch/changed"; then
  grep -Fx -f "$scratch/changed" "$scratch/compiled" >"$scratch/chosen" || true
  while read -r header; do
    # By the name that #include has; one source is enough.
    name=${header#include/}; name=${name#src/}; name=${name#tests/}
    mapfile -t users < <(xargs -a "$scratch/compiled" grep -lF "#include \"$name\"" || true)
    [ ${#users[@]} -gt 0 ] || continue
    printf '%s\n' "${users[@]}" | grep -qFx -f "$scratch/chosen" || echo "${users[0]}" >>"$scratch/chosen"
  done < <(grep '\.hpp$' "$scratch/changed" || true)
else
  echo "No earlier commit is here to compare with, so clang-tidy looks at nothing." >&2
  : >"$scratch/chosen"
fi
count=$(wc -l <"$scratch/chosen")
if ! $full && [ "$count" -gt "$most" ]; then
  echo "$count sources changed; the $most smallest are looked at. All: tests/lint.sh --full"
  xargs -a "$scratch/chosen" wc -l | grep -v ' total$' | sort -n | head -n "$most" | awk '{print $2}' >"$scratch/few"
  mv "$scratch/few" "$scratch/chosen"
fi

echo "== clang-tidy: $(wc -l <"$scratch/chosen") sources"
look_at() {
  local found
  found=$(clang-tidy-19 -p "$1" --quiet --extra-arg=-Wno-enum-constexpr-conversion "$2" 2>/dev/null) && return
  printf '%s: clang-tidy finds\n%s\n' "$2" "$found"
  return 1
}
export -f look_at
xargs -a "$scratch/chosen" -P "$cores" -I{} bash -c 'look_at "$@"' - "$scratch" {} || failed=true
if $failed; then exit 1; fi
