#!/bin/sh
# usage: counts.sh CLANG OPT PLAIN_OPT RUNTIME FOLDER PROGRAM_ARGUMENTS SOURCE...
# Compile the sources once, at -O2, instrument the same code by the oracle's callbacks and in each mode of coalescing, run all,
# and compare: accesses by size of block (oracle.c), or, if contexts have blocks of several sizes, all accesses.
set -e
clang=$1 opt=$2 plain_opt=$3 runtime=$4 folder=$5 arguments=$6
shift 6
inputs=$(dirname "$0")
rm -rf "$folder"
mkdir -p "$folder"
for source; do
  name=$folder/$(basename "$source" .c)
  $clang -O2 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -emit-llvm -c "$source" -o "$name.bc"
  $plain_opt -passes='function(memprof),memprof-module' -memprof-use-callbacks "$name.bc" -o "$name.oracle.bc"
  for mode in off granule block; do
    $opt -memprof-coalesce=$mode -passes=hearth-instrument "$name.bc" -o "$name.$mode.bc"
  done
done
$clang -O1 -fno-builtin -Wl,--defsym=snprintf=oracle_snprintf "$folder"/*.oracle.bc "$inputs/oracle.c" -o "$folder/oracle"
ORACLE=$folder/oracle.txt "$folder/oracle" $arguments >"$folder/oracle.out"
for mode in off granule block; do
  $clang -O1 -Wl,--build-id "$folder"/*.$mode.bc "$runtime" -lpthread -o "$folder/$mode"
  HEARTH_OPTIONS=log_path=$folder/$mode.prof "$folder/$mode" $arguments >"$folder/$mode.out"
  cmp "$folder/oracle.out" "$folder/$mode.out"
  python3 "$inputs/raw_print.py" "$folder/$mode".prof.* AllocCount MinSize MaxSize TotalAccessCount MinPercentUtilized \
    MaxPercentUtilized >"$folder/$mode.txt"
  python3 "$inputs/counts.py" "$folder/oracle.txt" "$folder/$mode.txt"
done
# The counters of all granules are exact, too.
for mode in off granule; do
  grep -o 'AllocCount=.*MaxPercentUtilized=[0-9]*' "$folder/$mode.txt" | sort >"$folder/$mode.granules"
done
cmp "$folder/off.granules" "$folder/granule.granules"
