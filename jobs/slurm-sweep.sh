#!/usr/bin/env bash
# Submits a sweep: an array of jobs, one for each line of a file of cases. Results go to OUTPUT/NAME.
#
#   jobs/slurm-sweep.sh CASES [options of sbatch] jobs/slurm.sbatch DECK OUTPUT [arguments of `weft run`]
#
# A case is a line  NAME: key=value; key=value  of what `weft run` takes by --set; blank lines and those that start with #
# are left out. Ten cases run at a time unless --array=1-N%AT_A_TIME says otherwise.
set -euo pipefail
if [ $# -lt 4 ] || [ ! -f "$1" ]; then
  sed -n '4s/^# */usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
cases=$(readlink -f "$1")
shift
lines=$(grep -Ev '^[[:space:]]*(#|$)' "$cases") || { echo "There are no cases in $cases." >&2; exit 2; }
wrong=$(grep -Evn '^[A-Za-z0-9][A-Za-z0-9._-]*:' <<<"$lines") && { echo "Not of the form NAME: key=value; ...: $wrong" >&2; exit 2; }
again=$(cut -d: -f1 <<<"$lines" | sort | uniq -d)
[ -z "$again" ] || { echo "Two cases have the same name: $again" >&2; exit 2; }
WEFT_CASES=$cases sbatch --array="1-$(wc -l <<<"$lines")%10" --output=%x-%A_%a.out "$@"
