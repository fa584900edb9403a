#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How much of a large profile the compiler reads for one module: pages touched, out of the whole file.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/lookup.sh [--quick] [--contexts=N] [PROFILE...]
  PROFILE       indexed profiles to measure besides the one that is made up
  --contexts=N  of the profile that is made up (default 1000000)
  --quick       a tenth of the contexts
END
}

contexts=1000000 profiles=()
parse_arguments '--quick contexts=100000' '--contexts=[1-9]*' 'profiles=*' -- "$@"
for i in "${!profiles[@]}"; do
  profiles[i]=$(cd "$OLDPWD" && realpath "${profiles[i]}")
done

"$repository/examples/setup.sh" --for=bench
directory=$build/bench/lookup
mkdir -p "$directory"

build_tools generate count-pages
made_up=$directory/$contexts.prof
step "making up a profile of $contexts contexts" "$directory/generate.log" "$build/bin/bench-generate" "$made_up" "$contexts"
for profile in "$made_up" "${profiles[@]}"; do
  printf '\n%s: ' "$(basename "$profile")"
  "$build/bin/bench-count-pages" "$profile"
done
