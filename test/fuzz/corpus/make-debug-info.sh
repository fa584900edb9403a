#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Make corpus/debug-info: one small program in the forms of debug information that are read in different ways.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p debug-info
cat >debug-info/seed.c <<'C'
static volatile int drain;
static inline __attribute__((always_inline)) void inner(int n) { if (n > 1) drain = n; drain = -n; }
__attribute__((noinline, section(".text.far"))) static void outer(int n) { inner(n); inner(n + 1); }
__attribute__((noinline)) void _start(void) { outer(1); inner(2); }
C
flags=(-O1 -nostdlib -static -fuse-ld=lld "-Wl,--build-id" -fno-asynchronous-unwind-tables)
flags+=(-g -fdebug-info-for-profiling -fdebug-compilation-dir=. "-Wl,--no-rosegment" debug-info/seed.c)
clang-22 "${flags[@]}" -gdwarf-4 -o debug-info/four
clang-22 "${flags[@]}" -gdwarf-5 -o debug-info/five
clang-22 "${flags[@]}" -gdwarf-5 -gz=zlib -o debug-info/zlib
clang-22 "${flags[@]}" -gdwarf-5 -gz=zstd -o debug-info/zstd
rm debug-info/seed.c
