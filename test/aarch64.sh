#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Hearth on 64-bit Arm: built by the cross compiler, run under qemu-user. The plugin is the one of this machine's clang, which
# compiles for both.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/aarch64.sh
Builds Hearth for aarch64 below build-aarch64, runs the unit tests of runtime, allocator, profile and mdlib, records a program as
it is, and takes the quickstart's path: instrument, run, index, optimise, run. Status 77: packages are missing, which it names.
END
}
parse_arguments -- "$@"

packages=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static libcmocka-dev:arm64 libdw-dev:arm64 libelf-dev:arm64
  libiberty-dev:arm64 "libllvm$llvm:arm64" libxxhash-dev:arm64 libzstd-dev:arm64 zlib1g-dev:arm64)
missing=()
for package in "${packages[@]}"; do
  # shellcheck disable=SC2016  # dpkg-query's own variable
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) == installed ]] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  complain "packages are missing: dpkg --add-architecture arm64 && apt-get update && apt-get install ${missing[*]}"
  exit 77
fi

./examples/setup.sh
tree=$repository/build-aarch64 work=$repository/build-aarch64/quickstart
export QEMU_RESERVED_VA=0x1000000000 # as in the toolchain file
qemu=qemu-aarch64-static clang=clang-$llvm
mkdir -p "$work"

[[ -e $tree/build.ninja ]] || step "configuring" "$tree/configure.log" cmake -G Ninja -S . -B "$tree" \
  -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DHEARTH_LLVM=$llvm"
mapfile -t tests < <(ninja -C "$tree" -t targets all | sed -n 's/^\(test_[a-z_]*\): phony$/\1/p')
step "building for aarch64" "$tree/build.log" ninja -C "$tree" hearth hearth_preload hearth_malloc_shared "${tests[@]}"

say "unit tests of runtime, allocator, profile and mdlib"
ctest --test-dir "$tree" --output-on-failure -R '^unit-' | tail -n 15
((PIPESTATUS[0] == 0)) || fail "a unit test failed"

# compile OUTPUT KIND ARGUMENT...: with the flags that `hearth flags KIND...` prints, but the libraries for aarch64.
compile() {
  local output=$1 flags=() kind
  read -ra kind <<<"$2"
  split_flags flags "$hearth" flags "${kind[@]}"
  flags=("${flags[@]//-L$build/-L$tree}")
  flags=("${flags[@]//-Wl,-rpath,$build/-Wl,-rpath,$tree}")
  flags=("${flags[@]//-Wl,--dynamic-list=$build/-Wl,--dynamic-list=$tree}")
  "$clang" --target=aarch64-linux-gnu -O2 -g "${@:3}" "${flags[@]}" -o "$output"
}

orders=(20000 1500000 1)
sources=(examples/quickstart/*.c)
run_instrumented() {
  rm -f "$work"/raw.*
  HEARTH_OPTIONS=log_path=$work/raw "$qemu" "$work/instrumented" "${orders[@]}" >"$work/instrumented.out"
}
step "instrument" "$work/instrument.log" compile "$work/instrumented" instrument "${sources[@]}"
step "run" "$work/run.log" run_instrumented
step "index, for aarch64" "$work/index.log" "$qemu" "$tree/bin/hearth" index "$work"/raw.* -o "$work/store.heap"
step "index, for this machine" "$work/index-here.log" "$hearth" index "$work"/raw.* -o "$work/here.heap"
cmp "$work/store.heap" "$work/here.heap"
"$qemu" "$tree/bin/hearth" merge -q --layout=calls "$work"/raw.* "$work/store.heap" -o "$work/there.heap"
"$hearth" merge -q --layout=calls "$work"/raw.* "$work/store.heap" -o "$work/here.heap"
cmp "$work/there.heap" "$work/here.heap" # what libm or contracted arithmetic would decide
"$qemu" "$tree/bin/hearth" show "$work/store.heap" >"$work/show.txt"
head -n 20 "$work/show.txt"
step "optimise" "$work/use.log" compile "$work/hinted" "use $work/store.heap" "${sources[@]}" examples/placement.c \
  -Iruntime/include
step "plain" "$work/plain.log" "$clang" --target=aarch64-linux-gnu -O2 "${sources[@]}" -o "$work/plain"

say "the builds print the same, and blocks are apart"
rm -f "$work/placement.txt"
for variant in plain hinted; do
  PLACEMENT_REPORT=$work/placement.txt "$qemu" "$work/$variant" "${orders[@]}" >"$work/$variant.out"
  cmp "$work/$variant.out" "$work/instrumented.out"
done
cat "$work/placement.txt"
grep -qE '^cold.* [1-9]' "$work/placement.txt" || fail "no block is in the cold range"

say "a program as it is"
rm -rf "$work/recorded" && mkdir "$work/recorded"
"$qemu" -E LD_PRELOAD="$tree/lib/libhearth_preload.so" -E HEARTH_RECORD="log_path=$work/recorded/raw" \
  "$work/plain" "${orders[@]}" >/dev/null
"$hearth" index --symbols "$work"/recorded/raw* -o "$work/recorded/heap"
"$hearth" show "$work/recorded/heap" >"$work/recorded/show.txt"
head -n 6 "$work/recorded/show.txt"
grep -q 'order_create' "$work/recorded/show.txt" || fail "no function of the program is named"
