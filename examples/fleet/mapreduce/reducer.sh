#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The reducer: records sorted by key come in, one record a key goes out. It is a combiner, too. `collect.sh` makes the
# profile of what all reducers have written.
set -euo pipefail
hearth=${HEARTH:-hearth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
key='' count=0

finish() {
  [[ $count -gt 0 ]] || return 0
  for ((i = 1; i <= count; i++)); do echo "$work/$i"; done | "$hearth" merge -q -f - -o "$work/sum"
  printf '%s\t%s\n' "$key" "$(base64 -w0 "$work/sum")"
  count=0
}

while IFS=$'\t' read -r next profile; do
  [[ $next == "$key" ]] || finish
  key=$next count=$((count + 1))
  base64 -d <<<"$profile" >"$work/$count"
done
finish
