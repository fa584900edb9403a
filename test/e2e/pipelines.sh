#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Takes the modules of a program through LLVM's pipelines with their heap profile, and checks the metadata that comes out.
set -euo pipefail
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../../examples/lib.sh"

usage() {
  cat <<END
usage: test/e2e/pipelines.sh --plugin=FILE --profile=FILE --work=DIR [--levels='O2 O3'] MODULE.bc...
  --plugin   hearth.so of a build tree; the tools of its LLVM release (opt, llvm-link, ...) are taken from PATH
  --profile  indexed profile of the program that the modules are linked to
  --work     folder for what is made on the way; emptied first
  --levels   optimisation levels; default: O2 O3
The modules are not optimised yet, and one of them defines main. For each level they and the program that llvm-link makes
of them go through
  default<O2>, profile at hand       the pipeline of a compiler
  default<O2>, annotated before      the same on modules that were annotated earlier, without profile
  lto-pre-link<O2>, lto<O2>          full LTO
  thinlto-pre-link<O2>, thinlto<O2>  thin LTO, with functions imported from the other modules
of which the link pipelines have no profile either; hearth-prune ends those that have none. Then
  - LLVM's verifier and hearth-verify accept the module,
  - bitcode -> text -> bitcode -> text keeps all of it,
  - pruning once more changes nothing.
What does not hold, and each tool that fails, is a finding. Prints a row of numbers per pipeline; exit status 1 after
findings.
END
}

plugin='' profile='' work='' levels='O2 O3' modules=()
parse_arguments '--plugin=*' '--profile=*' '--work=*' '--levels=*' 'modules=*' -- "$@"
for file in "$plugin" "$profile" "${modules[@]}"; do
  [[ -f $file ]] || misused "no such file: '$file'"
done
[[ $work ]] || misused "say where to work: --work=DIR"
((${#modules[@]} > 0)) || misused "say which modules"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# -load makes the plugin's options known early enough for every release.
opt=(opt -load "$plugin" "-load-pass-plugin=$plugin" "-load-pass-plugin=${plugin%/*}/hearth_verify.so")
use=("-memprof-use=$profile")
findings=0

# try WHAT COMMAND...: run it; if it fails, that is a finding.
try() {
  local what=$1
  shift
  "$@" >"$work/log" 2>&1 && return
  findings=$((findings + 1))
  {
    printf 'finding: %s\n  %s\n' "$what" "$*"
    tail -n 20 "$work/log"
  } >&2
  return 1
}

# same FILE FILE: equal but for the module's name, the order in which predecessors are listed, and the summary for thin
# LTO, which not every tool prints.
same() { diff -B <(comparable "$1") <(comparable "$2"); }
comparable() { sed -e '1d' -e '/^\^/d' -e 's/ *; preds = .*//' "$1"; }

# prune WHAT INPUT OUTPUT OPTION: the textual module INPUT, pruned and checked.
prune() {
  try "$1: prune again $4" "${opt[@]}" ${4:+"$4"} -passes=hearth-prune,hearth-verify,verify -S "$2" -o "$3"
}

# optimise WHAT INPUT OUTPUT PASSES [OPTION...]: the passes and both verifiers, then all that must hold of the result.
# Leaves the counts in OUTPUT.counts.
optimise() {
  local what=$1 input=$2 output=$3 passes=$4
  local text=$work/text.ll back=$work/back.bc back_text=$work/back.ll again=$work/again.ll with once
  shift 4
  try "$what: optimise" "${opt[@]}" "$@" "-passes=$passes,hearth-verify,verify" "$input" -o "$output" || return 0
  try "$what: to text" llvm-dis "$output" -o "$text" || return 0
  awk -f "$here/contexts.awk" "$text" >"$output.counts"
  try "$what: to bitcode" llvm-as "$text" -o "$back" || return 0
  try "$what: to text again" llvm-dis "$back" -o "$back_text" || return 0
  try "$what: bitcode keeps everything" same "$text" "$back_text" || return 0
  for with in '' "$@"; do
    [[ $with == '' || $with == -memprof-use=* ]] || continue
    once=$text
    if [[ $passes == *pre-link* ]]; then # what LLVM's summary has no use for, pruning restores
      once=$work/once.ll
      prune "$what" "$text" "$once" "$with" || continue
    fi
    prune "$what" "$once" "$again" "$with" || continue
    try "$what: pruning again changes nothing $with" same "$once" "$again" || true
  done
}

# row TITLE FINDINGS-BEFORE OUTPUT...: the counts of these modules, added up.
row() {
  local title=$1 before=$2 output
  shift 2
  for output; do
    [[ ! -e $output.counts ]] || cat "$output.counts"
  done | awk -v title="$title" -v modules="$#" -v findings="$((findings - before))" '
    { calls += $1; contexts += $2; hinted += $3 }
    END { printf "%-38s%8d%8d%10d%8d%10d\n", title, modules, calls, contexts, hinted, findings }'
}

# route TITLE DIRECTORY PASSES INPUTS [OPTION...]: a row for what these passes make of the modules in the array of this
# name. The results are in DIRECTORY, under the same names.
route() {
  local title=$1 directory=$work/$2 passes=$3 before=$findings input outputs=()
  local -n inputs=$4
  shift 4
  mkdir -p "$directory"
  for input in "${inputs[@]}"; do
    outputs+=("$directory/$(basename "$input")")
    optimise "$title $(basename "$input")" "$input" "${outputs[-1]}" "$passes" "$@"
  done
  row "$title" "$before" "${outputs[@]}"
}

# link OUTPUT MODULE...: the program, in which only main is visible from outside.
link() {
  local output=$1
  shift
  try "link $output" llvm-link "$@" -o "$output.linked" &&
    try "internalize $output" opt -passes=internalize -internalize-public-api-list=main "$output.linked" -o "$output"
}

# import DIRECTORY: the thin link of the modules in DIRECTORY; each, with the functions that it imports, is then in
# DIRECTORY/imported.
import() {
  local directory=$1 module
  mkdir -p "$directory/imported"
  try "thin link" llvm-lto -thinlto-action=thinlink -o "$directory/index" "$directory"/*.bc || return 0
  for module in "$directory"/*.bc; do
    try "import into $module" llvm-lto -thinlto-action=import "-thinlto-index=$directory/index" \
      -exported-symbol=main "$module" -o "$directory/imported/$(basename "$module")" || true
  done
}

rm -rf "$work"
mkdir -p "$work"
link "$work/program.bc" "${modules[@]}" || exit 1
# shellcheck disable=SC2034  # read by name
all=("${modules[@]}" "$work/program.bc")

printf '%-38s%8s%8s%10s%8s%10s\n' pipeline modules calls contexts hinted findings
route 'annotated' annotated hearth-annotate all "${use[@]}"
# shellcheck disable=SC2034
annotated=("$work/annotated"/*.bc)
for level in $levels; do
  route "default<$level>, profile at hand" "default-$level" "default<$level>" all "${use[@]}"
  route "default<$level>, annotated before" "later-$level" "default<$level>,hearth-prune" annotated

  route "lto-pre-link<$level>" "lto-$level" "lto-pre-link<$level>" modules "${use[@]}"
  link "$work/lto-$level.bc" "$work/lto-$level"/*.bc || continue
  # shellcheck disable=SC2034
  linked=("$work/lto-$level.bc")
  route "lto<$level>" "linked-$level" "lto<$level>,hearth-prune" linked

  route "thinlto-pre-link<$level>" "thin-$level" "thinlto-pre-link<$level>" modules "${use[@]}" -module-summary
  import "$work/thin-$level"
  # shellcheck disable=SC2034
  imported=("$work/thin-$level/imported"/*.bc)
  route "thinlto<$level>" "thin-linked-$level" "thinlto<$level>,hearth-prune" imported
done
((findings == 0))
