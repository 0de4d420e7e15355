#!/usr/bin/env bash
# Submits a run as a chain of jobs, each of which goes on where the one before stopped: for sites where a job may not
# queue itself again. Legs that are left when the run is done, or has failed, end at once.
#
#   jobs/slurm-chain.sh LEGS [options of sbatch] jobs/slurm.sbatch DECK OUTPUT [arguments of `weft run`]
set -euo pipefail
if [ $# -lt 4 ] || ! [[ "$1" =~ ^[1-9][0-9]*$ ]]; then
  sed -n '5s/^# */usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
legs=$1
shift
job=""
for ((leg = 1; leg <= legs; ++leg)); do
  # afterany, not afterok: a leg that was killed left a checkpoint too.
  job=$(WEFT_LEG=$leg sbatch --parsable --no-requeue ${job:+--dependency=afterany:"$job"} "$@")
  echo "leg $leg: job $job"
done
