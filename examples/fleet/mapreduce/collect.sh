#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes OUT of the records of all reducers.
set -euo pipefail
[[ $# == 1 ]] || { echo "usage: collect.sh OUT < RECORDS" >&2 && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while IFS=$'\t' read -r key profile; do
  base64 -d <<<"$profile" >"$work/$key"
done
"${HEARTH:-hearth}" merge -q "$work"/* -o "$1"
