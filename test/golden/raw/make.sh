#!/bin/sh
# Makes the golden files of this folder: raw profiles of one small program in each layout and version that is read, and
# what is in them as text, by a reader that has nothing in common with the one under test. Needs clang and memprof's runtime
# of LLVM 19 (version 4) and 22 (version 5); version 3 is made of version 4. Times and addresses change with every call.
# Usage: make.sh LIBHEARTH_RT
set -eu
runtime=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > seed.c <<'END'
#include <stdlib.h>
static void *get(size_t size) { return malloc(size); }
__attribute__((noinline)) static void touch(volatile char *block) { block[0] = 1; }
int main(void) {
  void *volatile kept = get(40);
  for (int i = 0; i < 3; i++) {
    char *block = get(100);
    touch(block);
    free(block);
  }
  return kept == NULL;
}
END
flags="-O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin"
clang-19 $flags -Wl,--build-id -fmemory-profile=raw4 seed.c -o seed4 && ./seed4 && cat raw4/* > "$here/llvm4"
clang-22 $flags -Wl,--build-id -fmemory-profile=raw5 seed.c -o seed5 && ./seed5 && cat raw5/* > "$here/llvm5"
clang-22 $flags -fmemory-profile -c seed.c -o seed.o
clang-22 -static -Wl,--build-id seed.o "$runtime" -lpthread -o seed2
HEARTH_OPTIONS=log_path=raw2 ./seed2 && cat raw2.* > "$here/hearth2"
python3 "$here/print.py" --version-3 "$here/llvm4" > "$here/llvm3"
for name in hearth2 llvm3 llvm4 llvm5; do
  python3 "$here/print.py" "$here/$name" > "$here/$name.txt"
done
