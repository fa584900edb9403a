#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The mapper of MapReduce streaming: a line of input is a profile's path, a line of output a record "SHARD TAB PROFILE",
# the profile in base64. SHARDS reducers can work at a time.
set -euo pipefail
hearth=${HEARTH:-hearth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$hearth" merge -q -j1 --failure-mode=warn -f - -o "$work/heap"
[[ -e $work/heap ]] || exit 0
"$hearth" split --shards="${SHARDS:-16}" "$work/heap" -o "$work/shard"
for shard in "$work"/shard.*; do
  printf '%s\t%s\n' "${shard##*.}" "$(base64 -w0 "$shard")"
done
