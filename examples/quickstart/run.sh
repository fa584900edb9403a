#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The whole path on a small program: profile it, look at the profile, compile with it, compare.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib.sh source-path=SCRIPTDIR
source ../lib.sh

usage() {
  cat <<END
usage: examples/quickstart/run.sh [--quick]
Builds the program 'orders' in this folder, profiles it, recompiles it with the profile and compares the builds.
  --quick  small inputs, one run of each build
Other allocators are compared, too, where libmimalloc2.0 and libtcmalloc-minimal4 are installed. Everything that is made is below build/quickstart.
END
}

# Inputs are "ORDERS QUERIES SEED". The profile comes from another, smaller input than what is measured, with queries enough to
# show the index hot, and few enough corrections for each order to leave the orders idle, as they are in the larger store.
training="100000 2000000 1"
measured="200000 500000 2"
runs=5
work=$build/quickstart
quick=false
parse_arguments --quick -- "$@"
if $quick; then
  training="40000 1000000 1" measured="50000 50000 2" runs=1 work=$build/quickstart-quick
fi

# workload INPUT COMMAND...
workload() {
  local arguments
  read -ra arguments <<<"$1"
  "${@:2}" --time "${arguments[@]}"
}

# query_seconds VARIANT: the median of what the program says its queries took.
query_seconds() { awk '$1 == "query" { print $2 }' "$work/$1.err" | median; }

../setup.sh --for=quickstart
mkdir -p "$work"
clang=clang-$llvm
sources=(*.c)
inputs=(*.c *.h run.sh)

instrument_flags=() use_flags=() link_flags=() plain_flags=()
split_flags instrument_flags "$hearth" flags instrument
if ! is_current "$work/instrumented" "${inputs[@]}" "$plugin" "$build/lib/libhearth_rt.so"; then
  step "building the profiling version" "$work/build.log" \
    "$clang" -O2 "${instrument_flags[@]}" "${sources[@]}" -o "$work/instrumented"
fi

# profile: run the profiling version and index what it wrote.
profile() {
  rm -f "$work"/raw.*
  HEARTH_OPTIONS=log_path=$work/raw workload "$training" "$work/instrumented"
  "$hearth" index "$work"/raw.* -o "$work/store.prof"
}
if ! is_current "$work/store.prof" "$work/instrumented" "$hearth"; then
  step "profiling (orders $training)" "$work/profile.log" profile
fi

say "what the profile says is hot and cold, and where: hearth show"
show_profile "$work/store.prof" 64 "$work/show.txt"

split_flags use_flags "$hearth" flags use "$work/store.prof" --compile
split_flags link_flags "$hearth" flags use "$work/store.prof" --link
without_plugin plain_flags "${use_flags[@]}"

# build_variants: the same flags for all, but for the profile and the allocator.
build_variants() {
  "$clang" -O2 "${plain_flags[@]}" "${sources[@]}" -o "$work/plain"
  "$clang" -O2 "${plain_flags[@]}" "${sources[@]}" "${link_flags[@]}" -o "$work/allocator"
  "$clang" -O2 "${plain_flags[@]}" -I"$repository/runtime/include" -c ../placement.c -o "$work/placement.o"
  "$clang" -O2 "${use_flags[@]}" "${sources[@]}" "$work/placement.o" "${link_flags[@]}" -o "$work/hinted"
  for source in "${sources[@]}"; do
    "$clang" -O2 "${use_flags[@]}" -S -emit-llvm "$source" -o "$work/${source%.c}.ll"
  done
}
if ! is_current "$work/hinted" "${inputs[@]}" ../placement.c "$work/store.prof" "$plugin" \
  "$build/lib/libhearth_malloc.so"; then
  step "building without and with the profile" "$work/build.log" build_variants
fi

say "the one malloc of memory.h, in all the places where it was inlined"
show_hints "$work"/*.ll

rm -f "$work/placement.txt"
PLACEMENT_REPORT=$work/placement.txt workload "$measured" "$work/hinted" >"$work/placement.out" 2>&1
say "where the blocks went (orders $measured)"
show_placement "$work/placement.txt"

VARIANTS=(plain hugetlb) VARIANT_TITLES=(plain "huge pages")
for other in mimalloc tcmalloc; do
  if [[ $(ldconfig -p) == *lib$other* ]]; then
    VARIANTS+=("$other") VARIANT_TITLES+=("$other")
  else
    say "$other is not installed, and left out"
  fi
done
VARIANTS+=(allocator hinted) VARIANT_TITLES+=(allocator "with profile")
measure "$work" "$runs" "$measured"
same_output "$work"
say "all builds print the same:"
cat "$work/hinted.out"

table_title
table_time "$work" "$runs"
table_per_variant "  queries alone, median (s)" '%.2f' query_seconds
table_memory "$work"
cat <<END

Orders $measured; profile: orders $training.
'allocator' has Hearth's allocator linked in but was compiled without a profile. The others are 'plain' under glibc's malloc
with huge pages, and under other allocators.
END
if $quick; then
  echo "This was one run of a small input: the times say little."
fi
