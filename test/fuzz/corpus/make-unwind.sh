#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Make corpus/unwind: .eh_frame_hdr and .eh_frame, as they lie in memory, of small modules from different compilers.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p unwind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/seed.cpp" <<'C'
void callee(int *, char *);
void small(int n) { callee(&n, 0); }
void variable(int n) { callee(&n, static_cast<char *>(__builtin_alloca(n))); if (n > 5) small(n), small(1), callee(&n, 0); }
int aligned(int n) { alignas(64) int line[16]; callee(line, 0); return line[n]; }
int catches(int n) { try { small(n); } catch (int thrown) { n = thrown; } return n; }
int many(int a, int b, int c, int d, int e, int f) { for (; a < b; a += c) callee(&d, 0), callee(&e, 0); return a + f; }
C
cat >"$work/other.s" <<'S'
.text
one: .cfi_startproc simple
.cfi_signal_frame
.cfi_def_cfa rsp, 8
.cfi_escape 0x15, 3, 1
nop
.cfi_escape 0x12, 7, 0x7e, 0x13, 0x7d, 0x05, 6, 2
nop
.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
nop
.cfi_endproc
two: .cfi_startproc
.cfi_remember_state
.skip 300
.cfi_undefined rip
.cfi_val_offset rbp, 8
.skip 70000
.cfi_restore_state
ret
.cfi_endproc
S
# keep NAME OBJECT...: what the linker makes of them
keep() {
  clang++-22 -shared -nostdlib -fuse-ld=lld -Wl,--build-id=none "${@:2}" -o "$work/module"
  for section in .eh_frame_hdr .eh_frame; do
    llvm-objcopy-22 --dump-section "$section=$work/$section" "$work/module"
  done
  read -r at next < <(llvm-readelf-22 -SW "$work/module" |
    awk '$2 == ".eh_frame_hdr" || $3 == ".eh_frame_hdr" { sub(/.*\]/, ""); at = $3 }
         $2 == ".eh_frame" || $3 == ".eh_frame" { sub(/.*\]/, ""); next_at = $3 } END { print at, next_at }')
  cp "$work/.eh_frame_hdr" "unwind/$1"
  truncate -s $((0x$next - 0x$at)) "unwind/$1"
  cat "$work/.eh_frame" >>"unwind/$1"
}
clang++-22 -O2 -fPIC -fomit-frame-pointer -c "$work/seed.cpp" -o "$work/clang.o"
clang++-22 -O1 -fPIC -fno-omit-frame-pointer -c "$work/seed.cpp" -o "$work/frames.o"
g++-12 -O2 -fPIC -c "$work/seed.cpp" -o "$work/gcc.o"
clang-22 -c "$work/other.s" -o "$work/other.o"
flags=("-Wl,--unresolved-symbols=ignore-all" "-Wl,--eh-frame-hdr")
keep clang "${flags[@]}" "$work/clang.o"
keep frames "${flags[@]}" "$work/frames.o"
keep gcc "${flags[@]}" "$work/gcc.o"
keep other "${flags[@]}" "$work/other.o"
