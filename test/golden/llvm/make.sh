#!/bin/sh
# Makes the golden files of this folder: one small heap profile in every form of LLVM's that is read, the same as text, and
# function counters of the releases whose containers differ. Needs clang, llvm-profdata and memprof's runtime of LLVM 22,
# clang and llvm-profdata of LLVM 14 and 19. Numbers that depend on the machine (times, CPUs) change with every call.
# Usage: make.sh HEARTH
set -eu
hearth=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
llvm=/usr/lib/llvm-
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > seed.cpp <<'END'
static char *inner(int n) { return new char[n]; }
__attribute__((noinline)) static char *outer(int n) { return inner(n); }
static int use(char *block) {
  block[0] = 1;
  int result = block[0];
  delete[] block;
  return result;
}
int main(int argc, char **argv) {
  char *kept = outer(1000 * argc);
  int sum = use(outer(10 * argc));
  return sum == 2 && kept == argv[0];
}
END
flags="-O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -Wl,--build-id"
"$llvm"22/bin/clang++ $flags -fno-optimize-sibling-calls -fmemory-profile=raw seed.cpp -o seed
./seed
for version in 3 4; do
  "$llvm"22/bin/llvm-profdata merge raw/* --profiled-binary seed --memprof-version=$version --memprof-full-schema \
    -o "$here/v$version"
done
"$llvm"22/bin/llvm-profdata merge raw/* --profiled-binary seed -o "$here/v3-plain"
"$hearth" merge -q "$here/v4" -o v4.prof
"$hearth" show --text v4.prof > "$here/expected.txt"
for release in 14 19 22; do
  "$llvm$release/bin/clang++" -O1 -fprofile-generate seed.cpp -o counted
  LLVM_PROFILE_FILE=counted.profraw ./counted
  "$llvm$release/bin/llvm-profdata" merge counted.profraw -o "$here/code$release"
done
"$llvm"22/bin/llvm-profdata merge "$here/v4" "$here/code22" --memprof-version=4 --memprof-full-schema \
  -o "$here/llvm22"
"$hearth" merge -q "$here/v4" "$here/code22" -o "$here/both22"
"$hearth" merge -q "$here/v4" "$here/code14" -o "$here/both14"
