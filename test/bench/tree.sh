#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What profiling adds to a recursive tree builder of a million nodes, each with a call stack of its own: ours, which
# folds recursion, and LLVM's. Fails if folding changes the sums.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/tree.sh [--quick] [--rounds=N]
  --rounds=N  measured rounds (default 3)
  --quick     16 thousand nodes and one round
END
}

quick=false rounds=3
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
select_program builder
directory=$work/tree
for variant in plain hearth llvm; do
  build_variant "$variant"
done

# profiled SUBJECT PREFIX...: one run; a profiling build leaves $directory/raw.SUBJECT.*. `full` is ours unfolded.
profiled() {
  local subject=$1 variant=$1 recursion=fold
  shift
  [[ $subject != full ]] || variant=hearth recursion=full
  rm -f "$directory/raw.$subject".*
  HEARTH_OPTIONS=recursion=$recursion:max_contexts=4000000:log_path=$directory/raw.$subject \
    MEMPROF_OPTIONS=log_path=$directory/raw.llvm run_program "$measured" "$@" "$work/$variant"
}

say "measuring, height $measured, $rounds rounds"
paired "$directory" "$rounds" profiled plain hearth full llvm

# totals SUBJECT: contexts, and the sums that do not depend on time.
totals() {
  "$hearth" merge -q --recursion=full "$directory/raw.$1".* -o "$directory/$1.prof"
  "$hearth" show --text "$directory/$1.prof" | awk '
    $1 == "context" { contexts++ }
    $1 ~ /^(AllocCount|TotalSize|TotalAccessCount)$/ { sum[$1] += $2 }
    END { print contexts, sum["AllocCount"], sum["TotalSize"], sum["TotalAccessCount"] }'
}
read -r folded folded_sums < <(totals hearth)
read -r full full_sums < <(totals full)
[[ $folded_sums == "$full_sums" ]] || fail "folded: $folded_sums, unfolded: $full_sums (blocks, bytes, accesses)"

# added SUBJECT: what a subject takes beyond the plain program in the same round, as lines like those of its .runs.
added() {
  paste -d ' ' "$directory/$1.runs" "$directory/plain.runs" |
    awk '{ print $1 - $5, $2 - $6, $3 - $7, $4 - $8 }' >"$directory/$1-added.runs"
}
for subject in hearth full llvm; do
  added "$subject"
done

echo
printf 'contexts: %d folded, %d unfolded; blocks, bytes, accesses of both: %s\n' "$folded" "$full" "$folded_sums"
printf 'raw profiles: hearth %d, unfolded %d, llvm %d bytes\n' "$(cat "$directory"/raw.hearth.* | wc -c)" \
  "$(cat "$directory"/raw.full.* | wc -c)" "$(cat "$directory"/raw.llvm.* | wc -c)"
ratio_title "A: profiled; B: plain"
ratio_rows "hearth / plain" "$directory" hearth plain
ratio_rows "llvm / plain" "$directory" llvm plain
ratio_title "added to plain; A: hearth; B: llvm"
ratio_rows "hearth / llvm" "$directory" hearth-added llvm-added
ratio_rows "hearth unfolded / llvm" "$directory" full-added llvm-added
