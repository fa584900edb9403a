#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Install the Debian packages that are missing, configure and build. Quick, and without network, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=lib.sh source-path=SCRIPTDIR
source examples/lib.sh

purpose=build

usage() {
  cat <<END
usage: examples/setup.sh [--for=PURPOSE] [--llvm=RELEASE]
  --for=build       what building Hearth needs (default)
  --for=test        the same, and what the tests need
  --for=quickstart  the same as build, and what the quickstart needs
  --for=realworld   the same as quickstart, and what fetching source packages needs
  --for=bench       the same as realworld, LLVM's own heap profiling, lld, and other allocators
  --for=record      the same as test, and the programs that recording is tried and measured on
  --llvm=RELEASE    22 (default), 19, 16, 15 or 14
END
}

parse_arguments '--for=build|test|quickstart|realworld|bench|record purpose' '--llvm=22|19|16|15|14' -- "$@"

packages=(cmake ninja-build gcc g++ pkg-config "llvm-$llvm-dev" "llvm-$llvm" "clang-$llvm"
  libdw-dev libelf-dev libiberty-dev libxxhash-dev libzstd-dev zlib1g-dev)
case $purpose in
  test | record)
    # lit, FileCheck and the symbolizer of LLVM 22 also serve the tests of the older releases.
    packages+=("llvm-$llvm-tools" "lld-$llvm" "libclang-rt-$llvm-dev" libcmocka-dev libgtest-dev
      libglib2.0-dev libjemalloc2 dwz python3 valgrind ccache make chromium) # chromium opens reports
    [[ -z ${CI:-} ]] || packages+=(clang-format-22 shellcheck # test/style.sh
      autoconf automake libtool meson lintian file groff debuginfod) # recipes, packages
    [[ $llvm == 22 ]] || packages+=(llvm-22 llvm-22-tools)
    [[ $purpose != record ]] || packages+=(heaptrack lua5.4 git perl sqlite3 redis-server redis-tools nginx-light
      apache2-utils nodejs openjdk-17-jre-headless golang-go) # whose pprof reads profiles
    ;;
  quickstart) packages+=(binutils time) ;;
  realworld) packages+=(binutils time dpkg-dev ca-certificates tcl make) ;;
  bench)
    packages+=(binutils time valgrind dpkg-dev ca-certificates tcl python3 make "lld-$llvm" "libclang-rt-$llvm-dev"
      libjemalloc-dev libmimalloc-dev libtcmalloc-minimal4)
    ;;
esac

# LLVM 15 of Debian 12 has its sanitizers in another package, which clang brings.
if [[ $llvm == 15 ]]; then
  for i in "${!packages[@]}"; do
    [[ ${packages[i]} != libclang-rt-15-dev ]] || unset "packages[i]"
  done
fi

command -v dpkg-query >/dev/null || fail "this is for Debian; elsewhere install the like of: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  # shellcheck disable=SC2016  # dpkg-query's own variable, once for each architecture
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed* ]] || missing+=("$package")
done

log_directory=$build/log
if ((${#missing[@]} > 0)); then
  if [[ $(id -u) != 0 ]]; then
    fail "packages are missing; as root, run: apt-get update && apt-get install -y ${missing[*]}"
  fi
  export DEBIAN_FRONTEND=noninteractive
  step "updating the package lists" "$log_directory/apt-update.log" apt-get update -q
  step "installing ${missing[*]}" "$log_directory/apt-install.log" \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

preset=llvm$llvm
tree=$build
[[ $llvm == 22 ]] || tree=$build-llvm$llvm
tests=OFF # they need packages of their own to be configured
[[ $purpose == test || $purpose == record ]] && tests=ON
if [[ ! -e $tree/build.ninja ]] || { [[ $tests == ON ]] && ! grep -q '^HEARTH_TESTS:BOOL=ON' "$tree/CMakeCache.txt"; }; then
  step "configuring Hearth for LLVM $llvm" "$log_directory/configure-$preset.log" \
    cmake --preset "$preset" "-DHEARTH_TESTS=$tests" ${CI:+-DHEARTH_WERROR=ON}
fi
if ! ninja -C "$tree" -n | grep -q 'no work to do'; then
  step "building Hearth for LLVM $llvm" "$log_directory/build-$preset.log" ninja -C "$tree"
fi
