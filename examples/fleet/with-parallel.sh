#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The batches by GNU parallel. Options go to it: '-S host1,host2' runs them over ssh on machines that share DIR, the
# profiles and the programs; --retries=3 runs a batch again whose worker died.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: with-parallel.sh DIR OUT [PARALLEL_OPTION]... < LIST" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
hearth=$(realpath "$(command -v "${HEARTH:-hearth}")") # other machines may have other PATHs
count=$("$here/batches.sh" "${BATCH:-256}" "$dir")
seq "$count" | parallel --will-cite --halt soon,fail=1 "${@:3}" "HEARTH='$hearth'" "$here/batch.sh" "$dir" "{}"
"$here/reduce.sh" "$dir" "$2"
