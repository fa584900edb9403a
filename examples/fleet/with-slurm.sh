#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The batches as a job array of Slurm, and the reduction as a job that depends on it. DIR, the profiles and the programs
# are on storage that all nodes share. A node that fails has its batches queued again. With --wait, it waits for the end.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: with-slurm.sh DIR OUT [--wait] [SBATCH_OPTION]... < LIST" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
wait=()
[[ ${3:-} == --wait ]] && wait=(--wait) && set -- "${@:1:2}" "${@:4}"
mkdir -p "$1"
dir=$(cd "$1" && pwd) out=$(realpath -m "$2")
count=$("$here/batches.sh" "${BATCH:-256}" "$dir")
array=$(sbatch --parsable --requeue --array="1-$count" --output="$dir/%a.log" "${@:3}" \
  --wrap "HEARTH='${HEARTH:-hearth}' '$here/batch.sh' '$dir' \$SLURM_ARRAY_TASK_ID")
sbatch --parsable "${wait[@]}" --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
  --output="$dir/reduce.log" "${@:3}" --wrap "HEARTH='${HEARTH:-hearth}' '$here/reduce.sh' '$dir' '$out'"
