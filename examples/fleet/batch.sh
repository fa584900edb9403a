#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Merges one batch, unless that was done before: DIR/N.list to DIR/N.heap. hearth replaces its output whole, so a worker
# that is killed leaves nothing behind, and the batch is made when it is asked for again. HEARTH_MERGE holds more options.
# Without a usable profile there is an empty file, which reduce.sh passes over.
set -euo pipefail
[[ $# == 2 ]] || { echo "usage: batch.sh DIR N" >&2 && exit 2; }
cd "$1"
[[ -e $2.heap ]] && exit
read -ra options <<<"${HEARTH_MERGE:-}"
"${HEARTH:-hearth}" merge -q --failure-mode=warn "${options[@]}" -f "$2.list" -o "$2.heap"
[[ -e $2.heap ]] || : >"$2.heap"
