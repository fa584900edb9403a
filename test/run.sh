#!/usr/bin/env bash
# The whole test-suite: set up what is missing, build, run every lit suite and unit test, count.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/run.sh [--llvm=RELEASE]
  --llvm=RELEASE  22 (default), 19 or 14
The last line counts single tests: 'N passed, N failed, N skipped'. The exit status is 0 if some passed and none failed.
END
}

for argument in "$@"; do
  case $argument in
    --llvm=22 | --llvm=19 | --llvm=14) llvm=${argument#--llvm=} ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && fail "unknown argument '$argument'" ;;
  esac
done

examples/setup.sh --for=test --llvm="$llvm"
tree=$build
[[ $llvm == 22 ]] || tree=$build-llvm$llvm

say "running the tests"
status=0
ctest --test-dir "$tree" --output-on-failure --no-tests=error || status=$?

# ctest keeps the whole output of its last run, also of what passed. Each of its entries is a lit suite or a unit test
# program with a summary of its own, or a program that is one test.
counts=$(awk -f test/count.awk "$tree/Testing/Temporary/LastTest.log")
read -r passed failed skipped <<<"$counts"
echo "$passed passed, $failed failed, $skipped skipped"
((status == 0 && failed == 0 && passed > 0))
