# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# redis with a million keys, the server: pipelined GET and SET, then a mixed set of requests. Its strings, lists and tables
# come from zmalloc, a wrapper in a file of its own. It allocates by direct calls of the C library's malloc, as Debian's does
# of jemalloc's.
# shellcheck shell=bash disable=SC2030,SC2031,SC2034,SC2154

package=redis
link_flags=(-lm -lpthread -ldl -rdynamic)
compile_flags=(-w -std=gnu11 "-I$tree/deps/hiredis" "-I$tree/deps/lua/src" "-I$tree/deps/hdr_histogram"
  "-I$tree/deps/linenoise"
  '-DHDR_MALLOC_INCLUDE="hdr_redis_malloc.h"' -DLUA_ANSI -DENABLE_CJSON_GLOBAL '-DREDIS_STATIC=' -DLUA_USE_MKSTEMP)

prepare() { (cd src && sh mkreleasehdr.sh); } # what the server's makefile generates

# list_sources: what the makefiles make the server of.
list_sources() {
  awk '/^REDIS_SERVER_OBJ=/ { sub(/^[^=]*=/, ""); gsub(/[.]o/, ".c"); for (i = 1; i <= NF; i++) print "src/" $i }' \
    src/Makefile
  find deps/lua/src -name '*.c' ! -name lua.c ! -name luac.c ! -name print.c | sort
  printf '%s\n' deps/hiredis/{alloc,async,hiredis,net,read,sds,sockcompat}.c deps/hdr_histogram/hdr_histogram.c
}

# Inputs are "KEYS REQUESTS SEED".
training="100000 500000 1" measured="1000000 1200000 2" counted="10000 60000 3"
if $quick; then
  training="5000 50000 1" measured="8000 80000 2"
fi

# workload INPUT COMMAND...
workload() {
  local keys requests seed socket server
  read -r keys requests seed <<<"$1"
  shift
  is_current "$work/requests" "$bench/benefit/requests.c" ||
    "$clang" -O2 "$bench/benefit/requests.c" -o "$work/requests"
  socket=$(mktemp -u /tmp/benefit.XXXXXX)
  "$@" --port 0 --unixsocket "$socket" --save '' --hz 1 --logfile "$work/server.log" &
  server=$!
  "$work/requests" "$socket" "$keys" "$requests" "$seed" "$latencies"
  wait "$server"
}
