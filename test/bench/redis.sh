# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# redis: the server, on a stream of requests made beforehand. Its strings, lists and tables come from zmalloc, a wrapper in a
# file of its own. It allocates by direct calls of the C library's malloc, as Debian's does of jemalloc's.
# shellcheck shell=bash disable=SC2030,SC2031,SC2034,SC2154,SC2317

package=redis
tree=$build/realworld/redis/source
link_flags=(-lm -lpthread -ldl -rdynamic)
compile_flags=(-w -std=gnu11 "-I$tree/deps/hiredis" "-I$tree/deps/lua/src" "-I$tree/deps/hdr_histogram"
  "-I$tree/deps/linenoise"
  '-DHDR_MALLOC_INCLUDE="hdr_redis_malloc.h"' -DLUA_ANSI -DENABLE_CJSON_GLOBAL '-DREDIS_STATIC=' -DLUA_USE_MKSTEMP)

# fetch_redis: the source package, and what the server's makefile generates.
fetch_redis() (
  work=$build/realworld/redis
  prepare() { (cd src && sh mkreleasehdr.sh); }
  mkdir -p "$work"
  # shellcheck source=../../examples/realworld/package.sh source-path=SCRIPTDIR
  source "$realworld/package.sh"
  fetch_once
)
fetch_redis

# What the makefiles make the server of.
mapfile -t sources < <(
  awk '/^REDIS_SERVER_OBJ=/ { sub(/^[^=]*=/, ""); gsub(/[.]o/, ".c"); for (i = 1; i <= NF; i++) print "src/" $i }' \
    "$tree/src/Makefile"
  find "$tree/deps/lua/src" -name '*.c' ! -name lua.c ! -name luac.c ! -name print.c -printf 'deps/lua/src/%P\n' | sort
)
sources+=(deps/hiredis/{alloc,async,hiredis,net,read,sds,sockcompat}.c deps/hdr_histogram/hdr_histogram.c)

# Inputs are "KEYS REQUESTS SEED".
training="20000 300000 1" measured="60000 900000 2" simulated="10000 60000 3"
if $quick; then
  training="5000 50000 1" measured="8000 80000 2"
fi

# workload INPUT COMMAND...
workload() {
  local keys requests seed socket server
  read -r keys requests seed <<<"$1"
  local file=$work/requests-$keys-$requests-$seed
  socket=$(mktemp -u "$work/socket.XXXXXX")
  shift
  [[ -e $file ]] ||
    { python3 "$bench/redis/requests.py" "$keys" "$requests" "$seed" >"$file.new" && mv "$file.new" "$file"; }
  "$@" --port 0 --unixsocket "$socket" --save '' --hz 1 --logfile "$work/server.log" &
  server=$!
  python3 "$bench/redis/send.py" "$socket" "$file"
  wait "$server"
}
