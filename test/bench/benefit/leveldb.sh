# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# leveldb's db_bench: a table in memory that threads fill and empty, and a cache of blocks that were read.
# shellcheck shell=bash disable=SC2034,SC2154

package=leveldb
compile_flags=(-w -std=c++11 "-I$tree" "-I$tree/include" -DLEVELDB_PLATFORM_POSIX=1 -DLEVELDB_COMPILE_LIBRARY -DNDEBUG
  -fno-exceptions -DHAVE_FDATASYNC=1 -DHAVE_FULLFSYNC=0 -DHAVE_O_CLOEXEC=1 -DHAVE_CRC32C=0 -DHAVE_SNAPPY=0)
link_flags=(-lstdc++ -lm -pthread)
prepare() { touch port/port_config.h; } # its contents are among the flags above

list_sources() {
  find db table util -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' ! -name '*windows*' ! -name leveldbutil.cc |
    sort
  echo helpers/memenv/memenv.cc
  echo benchmarks/db_bench.cc
}

# Inputs are "ENTRIES".
training="100000" measured="400000" counted="10000"
if $quick; then
  training="5000" measured="10000"
fi

# workload INPUT COMMAND...
workload() {
  local database
  database=$(mktemp -d "$work/database.XXXXXX")
  # What it prints are its own timings.
  "${@:2}" --db="$database" --benchmarks=fillrandom,readrandom,readrandom --num="$1" --reads="$1" --value_size=100 \
    --write_buffer_size=67108864 --cache_size=268435456 --compression_ratio=1 2>/dev/null | grep -c micros
  rm -r "$database"
}
