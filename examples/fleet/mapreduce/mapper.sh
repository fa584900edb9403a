#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The mapper of MapReduce streaming: a line of input is a profile's path; the one line of output is a record "KEY TAB
# PROFILE", the merged profile in base64. All mappers have one key: a sum is no larger than its inputs.
set -euo pipefail
hearth=${HEARTH:-hearth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$hearth" merge -q --failure-mode=warn -f - -o "$work/heap"
[[ -e $work/heap ]] || exit 0
printf 'profile\t%s\n' "$(base64 -w0 "$work/heap")"
