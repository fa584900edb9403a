#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a page of `hearth report` costs for a profile of 250,000 contexts: to write, to keep, to open and to use.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/report.sh [--quick] [--rounds=N] [PROFILE...]
  PROFILE     indexed profiles to measure besides the one that is made up
  --rounds=N  how often each is written and opened (default 5)
  --quick     a hundredth of the contexts, once
END
}

contexts=250000 rounds=5 profiles=()
parse_arguments '--quick contexts=2500 rounds=1' '--rounds=[1-9]*' 'profiles=*' -- "$@"
for i in "${!profiles[@]}"; do
  profiles[i]=$(cd "$OLDPWD" && realpath "${profiles[i]}")
done

"$repository/examples/setup.sh" --for=bench
"$repository/examples/setup.sh" --for=test
directory=$build/bench/report page=$build/bench/report/page.html
mkdir -p "$directory"

build_tools generate
made_up=$directory/$contexts.prof
step "making up a profile of $contexts contexts" "$directory/generate.log" "$build/bin/bench-generate" "$made_up" "$contexts"

# write_page PREFIX...: the page of $profile.
write_page() {
  shift
  "$@" "$hearth" report "$profile" -o "$page"
}

for profile in "$made_up" "${profiles[@]}"; do
  paired "$directory/runs" "$rounds" write_page report
  printf '\n%s: profile %s bytes, page %s bytes\n' "$(basename "$profile")" "$(stat -c %s "$profile")" \
    "$(stat -c %s "$page")"
  awk '{ print "written in " $1 " s (processor " $2 " s), " int($3 / 1024) " MiB" }' "$directory/runs/report.runs"
  printf '%-32s%10s%10s%10s\n' "seconds" least median most
  python3 "$bench/report/open_page.py" "$page" "$rounds"
done
