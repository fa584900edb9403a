#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What CI checks besides the whole suite on LLVM 22: style, the other releases, aarch64, and unit tests under sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."

echo '==> packages'
./examples/setup.sh --for=test
./test/style.sh

for release in 19 16 15 14; do
  ./test/run.sh --llvm=$release annotate mdlib
done

echo '==> aarch64, if its packages are there'
./test/aarch64.sh || [[ $? == 77 ]]

echo '==> the core of profile/, without its modules'
mkdir -p build-core
cmake --preset llvm22 -B build-core -DHEARTH_VIEWS=OFF -DHEARTH_TRACES=OFF -DHEARTH_FLEET=OFF -DHEARTH_WERROR=ON \
  >build-core/configure.log
ninja -C build-core >build-core/build.log || { tail -n 40 build-core/build.log >&2 && exit 1; }
ctest --test-dir build-core --output-on-failure -L '^(profile|fuzz)$' -E fuzz-short

echo '==> unit tests under AddressSanitizer and UBSan'
mkdir -p build-asan
[[ -e build-asan/build.ninja ]] || cmake --preset asan >build-asan/configure.log
ninja -C build-asan >build-asan/build.log || { tail -n 40 build-asan/build.log >&2 && exit 1; }
ctest --test-dir build-asan --output-on-failure -R '^(unit|replay)-'
