#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every pass of Hearth over LLVM's own tests, from the distribution's source package. By hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/fuzz/llvm-tests.sh [--llvm=RELEASE] [--sources=RELEASE] [--build=DIR] [--files=N] [--seed=N] [--jobs=N] [FOLDER...]
  FOLDER             below llvm/test; default: Transforms CodeGen/Generic Instrumentation
  --llvm=RELEASE     whose opt and plugin run: 22 (default), 19
  --sources=RELEASE  whose tests; default: that of --llvm. Most of an older release's suit newer ones
  --build=DIR        where Hearth was built for this LLVM (default build)
  --files=N          only so many of each folder, drawn at random (default: all)
  --seed=N           of what is drawn and injected (default 1)
  --jobs=N           at once (default: one a processor)
Prints findings and counts; modules.py says what is done with a file. All files take hours.
END
}

sources='' files='' seed=1 jobs=$(nproc) folders=()
parse_arguments '--llvm=22|19' '--sources=[1-9]*' '--build=?*' '--files=[1-9]*' '--seed=[0-9]*' '--jobs=[1-9]*' 'folders=*' -- "$@"
((${#folders[@]} > 0)) || folders=(Transforms CodeGen/Generic Instrumentation)
build=$(realpath "$build")

# shellcheck disable=SC2034  # read by package.sh
package=llvm-toolchain-${sources:-$llvm} suites='(-security|-updates)?'
# shellcheck source=../../examples/realworld/package.sh source-path=SCRIPTDIR
source examples/realworld/package.sh
tests=$build/fuzz/$package
if [[ ! -d $tests ]]; then
  rm -rf "$tests.new"
  mkdir -p "$tests.new"
  step "fetching the source package $package" "$tests.log" download
  step 'unpacking its tests' "$tests.log" tar -C "$tests.new" -xJf "$(echo "$build/source-packages/packages/$package"_*.orig.tar.xz)" \
    --strip-components=3 --wildcards '*/llvm/test/*'
  mv "$tests.new" "$tests"
fi

status=0
for folder in "${folders[@]}"; do
  say "$folder"
  test/fuzz/modules.py --build="$build" --llvm="$llvm" --seed="$seed" --jobs="$jobs" ${files:+--files="$files"} "$tests/$folder" || status=1
done
exit "$status"
