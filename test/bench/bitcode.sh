#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What annotation adds to a module's bitcode, against what LLVM's adds for the same contexts and the same cold ones. LLVM
# annotates operator new alone, so the recursive program becomes C++.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/bitcode.sh [--quick]
  --quick  a small input
END
}

quick=false
parse_arguments --quick -- "$@"

"$repository/examples/setup.sh" --for=bench
select_program recursive
directory=$build/bench/bitcode
mkdir -p "$directory"
rm -f "$directory/raw".*
for source in "${sources[@]}"; do
  sed -e 's/malloc(\([^;]*\));/::operator new(\1);/' -e 's/\bfree(\(node[^;]*\));/::operator delete(\1);/' \
    -e 's/\([a-z]*\) \*\([a-z]*\) = allocate(/\1 *\2 = (__typeof__(\2))allocate(/' "$tree/$source" >"$directory/${source}pp"
done
cp "$tree"/*.h "$directory"
sources=("${sources[@]/%/pp}")

split_flags flags "$hearth" flags instrument
step "building recursive as C++" "$directory/build.log" "clang++-$llvm" -O2 "${flags[@]}" "${sources[@]/#/$directory/}" \
  -o "$directory/recursive"
HEARTH_OPTIONS=recursion=full:max_contexts=4000000:log_path=$directory/raw run_program "$training" "$directory/recursive" \
  >"$directory/out"
for recursion in fold full; do
  "$hearth" index -q --recursion=$recursion "$directory/raw".* --binary "$directory/recursive" -o "$directory/$recursion.prof"
  "$hearth" merge -q --recursion=full --format=llvm "$directory/$recursion.prof" -o "$directory/$recursion.memprof"
done

# The cold contexts are those that hold 1 % of the accesses, by one threshold for both, as LLVM has no other.
density=$("$hearth" show --json "$directory/fold.prof" | sed -n 's/.*"cold_max_density": *\([0-9.]*\).*/\1/p' | head -n 1)
"clang++-$llvm" -O2 -gmlt -fdebug-info-for-profiling -flto=thin -Xclang -disable-llvm-passes -c \
  "$directory/calculate.cpp" -o "$directory/plain.bc"

# annotate SUBJECT RECURSION: LLVM's matcher, or ours.
annotate() {
  if [[ $1 == llvm ]]; then
    "opt-$llvm" -memprof-ave-lifetime-cold-threshold=0 -memprof-lifetime-access-density-cold-threshold="$density" \
      -passes="memprof-use<profile-filename=$directory/$2.memprof>" "$directory/plain.bc" -o "$directory/$1-$2.bc"
  else
    "opt-$llvm" "-load-pass-plugin=$plugin" -memprof-use="$directory/$2.prof" \
      -memprof-classify="llvm,cold-lifetime=0,cold-density=$density" -passes=hearth-annotate "$directory/plain.bc" \
      -o "$directory/$1-$2.bc"
  fi
}

# row LABEL FILE
row() {
  "llvm-dis-$llvm" "$2" -o "$directory/text"
  printf '%-52s%10d%8d%10d\n' "$1" $(($(stat -c %s "$2") - $(stat -c %s "$directory/plain.bc"))) \
    "$(grep -c '^!.*!"cold"' "$directory/text")" "$(grep -c '^!.*!"notcold"' "$directory/text")"
}

for recursion in fold full; do
  printf '\n%-52s%10s%8s%10s\n' "recursion: $recursion; $("$hearth" show --text "$directory/$recursion.prof" | grep -c '^context') contexts" \
    'added (B)' cold 'not cold'
  for subject in llvm hearth; do annotate $subject $recursion; done
  row "LLVM" "$directory/llvm-$recursion.bc"
  row "Hearth, with the numbers of each context" "$directory/hearth-$recursion.bc"
done
