#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The batches by make, as many at a time as there are processors.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: with-make.sh DIR OUT [MAKE_OPTION]... < LIST" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
count=$("$here/batches.sh" "${BATCH:-256}" "$1")
make -s -j"$(nproc)" -f "$here/batches.mk" HERE="$here" DIR="$1" COUNT="$count" "${@:3}"
"$here/reduce.sh" "$1" "$2"
