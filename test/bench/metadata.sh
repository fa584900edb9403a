#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the cost of attaching contexts grows with their number: mdlib, ten times as many.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/metadata.sh [--quick] [--rounds=N] [--depth=N]
  --rounds=N  measured rounds (default 7)
  --depth=N   callers of each context (default 30)
  --quick     a tenth of the contexts, and one round
END
}

rounds=7 depth=30 few=25000 many=250000
parse_arguments '--quick few=2500 many=25000 rounds=1' '--rounds=[1-9]*' '--depth=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
directory=$build/bench/metadata
mkdir -p "$directory"
build_tools attach

# attach SUBJECT PREFIX...: SUBJECT is the number of contexts, and how many a call has.
attach() {
  local contexts=${1%-*} batch=${1#*-}
  shift
  "$@" "$build/bin/bench-attach" "$contexts" "$depth" "$batch"
}

say "attaching $few and $many contexts of depth $depth, $rounds rounds"
subjects=("$many-100" "$few-100" "$many-$many" "$few-$few")
paired "$directory" "$rounds" attach "${subjects[@]}"
ratio_title "A: $many contexts; B: $few"
ratio_rows "100 contexts a call" "$directory" "$many-100" "$few-100"
ratio_rows "all on one call" "$directory" "$many-$many" "$few-$few"
