#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The test-suite, or one part or test of it: set up what is missing, build, run, count.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/run.sh [--llvm=RELEASE] [NAME...]
  NAME            a part (annotate, mdlib, profile, report, runtime, record, malloc, e2e, fuzz), a unit test or
                  another entry of ctest (test_plan, replay-raw), or a part of a lit test's path (annotate/lower)
  --llvm=RELEASE  22 (default), 19, 16, 15 or 14
The last line counts single tests: 'N passed, N failed, N skipped'. The exit status is 0 if some passed and none failed.
END
}

names=()
parse_arguments '--llvm=22|19|16|15|14' 'names=*' -- "$@"

examples/setup.sh --for=test --llvm="$llvm"
tree=$build
[[ $llvm == 22 ]] || tree=$build-llvm$llvm

status=0 passed=0 failed=0 skipped=0

# run_entries OPTION...: ctest with these options. ctest keeps the whole output of its last run, also of what passed. Each of
# its entries is a lit suite or a unit test program with a summary of its own, or a program that is one test.
run_entries() {
  local counts
  ctest --test-dir "$tree" --output-on-failure --no-tests=error "$@" || status=$?
  read -ra counts <<<"$(awk -f test/count.awk "$tree/Testing/Temporary/LastTest.log")"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

has_entries() { ctest --test-dir "$tree" -N "$@" | grep -q 'Total Tests: [1-9]'; }

# run_lit NAME: the lit tests whose path has the name.
run_lit() {
  local lit log=$tree/Testing/lit.log counts
  lit=$(sed -n 's/^HEARTH_LIT:[A-Z]*=//p' "$tree/CMakeCache.txt")
  "$lit" -v "$tree/test" --filter "$1" | tee "$log" || status=$?
  read -ra counts <<<"$(awk -f test/count.awk "$log")"
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
}

say "running the tests"
((${#names[@]} > 0)) || run_entries
for name in "${names[@]}"; do
  if has_entries -L "^$name\$"; then
    run_entries -L "^$name\$"
  elif has_entries -R "^(unit-)?$name\$"; then
    run_entries -R "^(unit-)?$name\$"
  else
    run_lit "$name"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((status == 0 && failed == 0 && passed > 0))
