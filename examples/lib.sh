# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell functions that the examples and tests share: arguments, progress, what is up to date, builds, measuring, tables.
# shellcheck shell=bash disable=SC2034
#
# Sourced, with `set -euo pipefail` in force. Words:
#   variant   one of the builds that are compared: plain, allocator, hinted (VARIANTS below), or plain under another allocator
#   workload  a function of the example, `workload INPUT COMMAND...`: runs COMMAND with the arguments of the example's
#             work, once or several times, results on stdout. INPUT is what the example calls its inputs.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$repository/build
hearth=$build/bin/hearth
plugin=$build/lib/hearth.so
llvm=22

# The builds that are compared, and what the table calls them. `allocator` shows what the allocator does alone,
# without hints from a profile.
VARIANTS=(plain allocator hinted)
VARIANT_TITLES=("plain" "allocator" "with profile")

say() { printf '==> %s\n' "$*"; }

complain() { printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2; }

fail() {
  complain "$@"
  exit 1
}

# misused MESSAGE: as `fail`, of a wrong command line. Like `hearth`, scripts end with status 2 then: 1 may be a finding.
misused() {
  complain "$@"
  exit 2
}

# parse_arguments SPEC... -- ARGUMENT...: set variables by the command line of the script, which has set their defaults
# before. Each SPEC describes arguments; the first that matches takes the argument:
#   '--NAME [VARIABLE=VALUE]...'   a flag and what it sets, one word each; alone it sets NAME to true
#   '--NAME=PATTERN [VARIABLE]'    an option with a value that matches the pattern, '22|19' or '[1-9]*'; it sets VARIABLE, or
#                                  else NAME
#   'VARIABLE=PATTERN'             operands; they do not begin with '-'
# An array gets all values in their order, after those that it has; another variable keeps the last. Names that begin with
# `spec` are taken. -h and --help call the script's function `usage` and end the script. An argument that matches nothing
# ends it with status 2, after usage and message on stderr.
parse_arguments() {
  local specs=() spec specified
  while [[ $1 != -- ]]; do
    specs+=("$1")
    shift
  done
  shift
  for specified; do
    if [[ $specified == -h || $specified == --help ]]; then
      usage
      exit
    fi
    for spec in "${specs[@]}"; do
      take_argument "$spec" "$specified" && continue 2
    done
    usage >&2
    misused "unknown argument '$specified'"
  done
}

# take_argument SPEC ARGUMENT: set what the argument sets by this SPEC of parse_arguments. Returns 1 if it does not match.
take_argument() {
  local spec_form=${1%% *} spec_sets=() spec_set spec_name
  read -ra spec_sets <<<"${1#"$spec_form"}"
  spec_name=${spec_form%%=*}
  if [[ $spec_form == --*=* ]]; then
    [[ $2 == "$spec_name="@(${spec_form#*=}) ]] || return 1
    set_variable "${spec_sets[0]:-${spec_name#--}}" "${2#*=}"
  elif [[ $spec_form == --* ]]; then
    [[ $2 == "$spec_form" ]] || return 1
    for spec_set in "${spec_sets[@]:-${spec_name#--}=true}"; do
      set_variable "${spec_set%%=*}" "${spec_set#*=}"
    done
  else
    [[ $2 != -* && $2 == @(${spec_form#*=}) ]] || return 1
    set_variable "$spec_name" "$2"
  fi
}

# set_variable NAME VALUE: append to an array, set another variable.
set_variable() {
  if [[ $(declare -p "$1" 2>/dev/null) == 'declare -a'* ]]; then
    local -n ret_array=$1
    ret_array+=("$2")
  else
    printf -v "$1" %s "$2"
  fi
}

# attempt COMMAND...: run the command or function in a subshell; $status is its exit status. Inside, the first command
# that fails ends it, which `if function` or `function || ...` would switch off.
attempt() {
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
}

# step MESSAGE LOG COMMAND...: say MESSAGE and run the command with its output in LOG, which is shown if it fails.
step() {
  local message=$1 log=$2
  shift 2
  say "$message"
  mkdir -p "$(dirname "$log")"
  attempt "$@" >"$log" 2>&1
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    fail "'$1' failed; its whole output is in $log"
  fi
}

# is_current TARGET INPUT...: TARGET exists and no INPUT is newer.
is_current() {
  local target=$1 input
  shift
  [[ -e $target ]] || return 1
  for input in "$@"; do
    [[ $input -nt $target ]] && return 1
  done
  return 0
}

# allocator_environment NAME: into $environment, what a program runs under to use another allocator: hugetlb (glibc's, with huge
# pages), mimalloc, jemalloc, tcmalloc (the distribution's libraries). Of other names: nothing.
allocator_environment() {
  local preloaded=''
  environment=()
  case $1 in
    hugetlb) environment=(GLIBC_TUNABLES=glibc.malloc.hugetlb=1) ;;
    mimalloc) preloaded=$(library libmimalloc.so.2) ;;
    jemalloc) preloaded=$(library libjemalloc.so.2) ;;
    tcmalloc) preloaded=$(library libtcmalloc_minimal.so.4) ;;
  esac
  [[ ! $preloaded ]] || environment=("LD_PRELOAD=$preloaded")
}

# library NAME: its path, as the loader knows it.
library() { ldconfig -p | awk -v name="$1" '$1 == name && !seen++ { print $NF } END { exit !seen }' || fail "no $1 is installed"; }

# split_flags ARRAY COMMAND...: the words that the command prints, into the array of this name.
split_flags() {
  local -n ret_words=$1
  local text
  shift
  text=$("$@") || fail "'$*' failed"
  # `read` returns 1 at the end of its input, which here is where it should stop.
  IFS=$' \t\n' read -r -d '' -a ret_words <<<"$text" || true
}

# without_plugin ARRAY FLAG...: the flags without those that load or steer a compiler plugin. What remains is what the
# plain build is compiled with, so that the builds differ by the profile and by nothing else.
without_plugin() {
  local -n ret_flags=$1
  shift
  ret_flags=()
  while (($# > 0)); do
    case $1 in
      -mllvm) shift ;;
      -fpass-plugin=* | -fplugin=* | -Wl,--load-pass-plugin=* | -Wl,-mllvm,*) ;;
      *) ret_flags+=("$1") ;;
    esac
    shift
  done
}

# show_profile PROFILE LINES LOG: the beginning of `hearth show`; all of it goes to LOG.
show_profile() {
  local profile=$1 lines=$2 log=$3
  "$hearth" show "$profile" >"$log"
  head -n "$lines" "$log"
  local total
  total=$(wc -l <"$log")
  if ((total > lines)); then
    printf '... %d more lines: %s\n' "$((total - lines))" "$log"
  fi
}

# show_hints FILE.ll...: which hint each inlined copy of an allocation call got.
show_hints() { awk -f "$repository/examples/hints.awk" "$@" | sort | uniq -c | sort -k2,2 -k1,1nr; }

# summarise_hints FILE: one line, from what show_hints printed.
summarise_hints() {
  awk '{ calls[$4] += $1; all += $1 }
    END {
      printf "hinted calls: %d, of them %d cold, %d hot, %d neither, %d unclear (contexts not told apart)\n", all,
        calls["cold"], calls["hot"], calls["neither"], calls["unclear"]
    }' "$1"
}

# show_placement FILE: the reports of placement.c, added up over processes.
show_placement() {
  awk '{ live[$1] += $3; bytes[$1] += $4; fallbacks[$1] += $5 }
    END {
      for (i = split("pools main cold", name, " "); i > 0; i--)
        printf "%-6s%10d blocks live at exit (%.1f MiB), %d did not fit\n", name[i], live[name[i]], bytes[name[i]] / 1048576,
          fallbacks[name[i]]
    }' "$1"
}

# same_output DIR: the variants' outputs (DIR/<variant>.out) are equal and not empty, or the example has failed.
same_output() {
  local directory=$1 variant
  [[ -s $directory/${VARIANTS[0]}.out ]] || fail "the program printed nothing"
  for variant in "${VARIANTS[@]:1}"; do
    cmp "$directory/${VARIANTS[0]}.out" "$directory/$variant.out" ||
      fail "the outputs of ${VARIANTS[0]} and $variant differ"
  done
}

# measure DIR RUNS INPUT: run the workload of each variant's program (DIR/<variant>, or DIR/plain) RUNS times, interleaved so that
# whatever else the machine does meets all variants alike. Leaves, per variant, the output of the last run in .out, what
# it wrote to stderr in all runs in .err, and a line "seconds KiB" per run in .runs: the time that the processes of one
# workload took together, and the peak memory of the largest of them.
measure() {
  local directory=$1 runs=$2 input=$3 variant run executable environment
  rm -f "$directory"/*.{runs,err,out}
  for ((run = 1; run <= runs; run++)); do
    say "measuring, run $run of $runs"
    for variant in "${VARIANTS[@]}"; do
      rm -f "$directory/processes"
      executable=$directory/$variant
      [[ -e $executable ]] || executable=$directory/plain
      allocator_environment "$variant"
      attempt workload "$input" /usr/bin/time -f '%e %M' -a -o "$directory/processes" env "${environment[@]}" "$executable" \
        >"$directory/$variant.out" 2>>"$directory/$variant.err"
      if ((status != 0)); then
        tail -n 20 "$directory/$variant.err" >&2
        fail "$directory/$variant failed"
      fi
      awk '{ seconds += $1; if ($2 > kib) kib = $2 } END { print seconds, kib }' "$directory/processes" \
        >>"$directory/$variant.runs"
    done
  done
}

# column FILE N: the N-th column.
column() { awk -v n="$2" '{ print $n }' "$1"; }

# The median of the numbers on stdin, one a line.
median() { sort -g | awk '{ n[NR] = $1 } END { print NR % 2 ? n[(NR + 1) / 2] : (n[NR / 2] + n[NR / 2 + 1]) / 2 }'; }

# range: "smallest-largest" of the numbers on stdin, one a line.
range() { sort -g | awk 'NR == 1 { low = $1 } { high = $1 } END { printf "%.2f-%.2f\n", low, high }'; }

table_title() {
  printf '\n%-34s' ''
  printf '%13s' "${VARIANT_TITLES[@]}"
  printf '%10s\n' 'change'
}

# table_row LABEL FORMAT NUMBER...: a number for each variant, and the change from the first to the last in percent.
table_row() {
  awk 'BEGIN {
    printf "%-34s", ARGV[1]
    for (i = 3; i < ARGC; i++)
      printf "%13s", sprintf(ARGV[2], ARGV[i])
    if (ARGV[3] > 0)
      printf "%+8.0f %%", (ARGV[ARGC - 1] - ARGV[3]) * 100 / ARGV[3]
    print ""
  }' "$@"
}

# table_per_variant LABEL FORMAT COMMAND...: a row of what the command prints for each variant, given as last argument.
table_per_variant() {
  local label=$1 format=$2 variant values=()
  shift 2
  for variant in "${VARIANTS[@]}"; do
    values+=("$("$@" "$variant")")
  done
  table_row "$label" "$format" "${values[@]}"
}

# What `measure` left, of one variant. Arguments: DIR VARIANT.
median_seconds() { column "$1/$2.runs" 1 | median; }
range_seconds() { column "$1/$2.runs" 1 | range; }
median_mib() { column "$1/$2.runs" 2 | median | awk '{ print $1 / 1024 }'; }

# table_time DIR RUNS, table_memory DIR: the rows that `measure` left.
table_time() {
  local directory=$1 runs=$2 variant
  table_per_variant "time, median of $runs (s)" '%.2f' median_seconds "$directory"
  printf '%-34s' '  fastest-slowest run (s)'
  for variant in "${VARIANTS[@]}"; do
    printf '%13s' "$(range_seconds "$directory" "$variant")"
  done
  printf '\n'
}
table_memory() { table_per_variant "peak memory (MiB)" '%.1f' median_mib "$1"; }
