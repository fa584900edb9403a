#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Merges the partial results of all batches: DIR/*.heap to OUT. It fails if one is missing.
set -euo pipefail
[[ $# == 2 ]] || { echo "usage: reduce.sh DIR OUT" >&2 && exit 2; }
parts=()
for list in "$1"/*.list; do
  part=${list%.list}.heap
  [[ -e $part ]] || { echo "reduce.sh: error: $part is missing: run its batch" >&2 && exit 1; }
  [[ ! -s $part ]] || parts+=("$part")
done
[[ ${#parts[@]} -gt 0 ]] || { echo "reduce.sh: error: no profile could be used" >&2 && exit 1; }
printf '%s\n' "${parts[@]}" | "${HEARTH:-hearth}" merge -q -f - -o "$2"
