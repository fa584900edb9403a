#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The batches by ninja.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: with-ninja.sh DIR OUT [NINJA_OPTION]... < LIST" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
count=$("$here/batches.sh" "${BATCH:-256}" "$1")
{
  printf 'rule batch\n  command = %s/batch.sh . $n\n  description = batch $n\n' "$here"
  for ((i = 1; i <= count; i++)); do
    printf 'build %d.heap: batch %d.list\n  n = %d\n' "$i" "$i" "$i"
  done
} >"$1/build.ninja"
ninja -C "$1" "${@:3}" >&2
"$here/reduce.sh" "$1" "$2"
