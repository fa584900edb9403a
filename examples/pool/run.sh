#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Profile a program as it is that has an allocator of its own, and tells of it: no special build.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib.sh source-path=SCRIPTDIR
source ../lib.sh

../setup.sh --for=quickstart
work=$build/pool
mkdir -p "$work"
"/usr/lib/llvm-$llvm/bin/clang" -O2 -gmlt -fdebug-info-for-profiling -I"$repository/runtime/include" pool.c -o "$work/pool"
rm -f "$work/pool.raw"
"$hearth" record -o "$work/pool.raw" -- "$work/pool"
"$hearth" index -q "$work/pool.raw" -o "$work/pool.prof"
"$hearth" show "$work/pool.prof"
