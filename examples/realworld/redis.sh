#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Profiling a server that nobody here wrote: redis, from the distribution's source package, built by its own makefiles with
# the flags of `hearth flags instrument`. It is driven by its own benchmark in two runs; one is ended by SIGTERM, the other
# by the server's SHUTDOWN command, and in between the server forks to save its data. Both profiles are indexed together.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib.sh source-path=SCRIPTDIR
source ../lib.sh

usage() {
  cat <<END
usage: examples/realworld/redis.sh [--quick]
  --quick  fewer requests
Everything that is made is below build/realworld/redis; profiles: runs/, the indexed one: redis.prof.
END
}

requests=100000
parse_arguments '--quick requests=5000' -- "$@"

package=redis
prepare() { :; } # its makefiles generate what they need
work=$build/realworld/redis
tree=$work/source
# shellcheck source=package.sh source-path=SCRIPTDIR
source ./package.sh

../setup.sh --for=realworld
mkdir -p "$work"
fetch_once

# build_server: the server and its tools, all profiled; the C library's malloc, which is what the runtime replaces.
build_server() {
  local compile_flags link_flags
  compile_flags=$("$hearth" flags instrument --compile)
  link_flags=$("$hearth" flags instrument --link)
  rm -rf "$work/profiled"
  cp -r "$tree" "$work/profiled"
  CFLAGS=$compile_flags LDFLAGS=$link_flags make -C "$work/profiled/src" -j "$(nproc)" CC="clang-$llvm" MALLOC=libc \
    OPTIMIZATION=-O2 redis-server redis-cli redis-benchmark
}
server=$work/profiled/src/redis-server
if ! is_current "$server" redis.sh "$tree" "$plugin" "$build/lib/libhearth_rt.so"; then
  step "building redis for profiling" "$work/build.log" build_server
fi

socket=$work/socket
raw=$work/runs/raw

# The tools were built with the same flags, but only the server's profile is wanted.
cli() { HEARTH_OPTIONS=dump_at_exit=0 "$work/profiled/src/redis-cli" -s "$socket" "$@"; }
benchmark() {
  HEARTH_OPTIONS=dump_at_exit=0 "$work/profiled/src/redis-benchmark" -s "$socket" -n "$requests" -r 10000 -q "$@"
}

wait_until_ready() {
  local try
  for ((try = 0; try < 100; try++)); do
    [[ $(cli ping 2>/dev/null) == PONG ]] && return
    sleep 0.1
  done
  fail "the server does not answer"
}

# Each run sets keys that stay and lists that grow and shrink, reads them, and saves, which is done by a forked child.
drive() {
  benchmark -t set,get,incr,lpush,lpop,hset -d 100
  cli bgsave
  while [[ $(cli info persistence) == *rdb_bgsave_in_progress:1* ]]; do
    sleep 0.1
  done
}

end_by_signal() { kill -TERM "$1"; }
end_by_command() { cli shutdown nosave; }

# run_server NAME END: one run, which ends with status 0 and leaves a profile of the server.
run_server() {
  local name=$1 end=$2 pid status=0
  HEARTH_OPTIONS=log_path=$raw "$server" --port 0 --unixsocket "$socket" --dir "$work/runs" --save '' \
    >"$work/runs/$name.log" 2>&1 &
  pid=$!
  wait_until_ready
  drive
  "$end" "$pid"
  wait "$pid" || status=$?
  ((status == 0)) || fail "the server ended with status $status"
  [[ -s $raw.$pid ]] || fail "the server left no profile $raw.$pid"
}

profile() {
  rm -rf "$work/runs"
  mkdir -p "$work/runs"
  run_server signal end_by_signal
  run_server command end_by_command
  "$hearth" index "$raw".* -o "$work/redis.prof"
}
step "profiling: $requests requests of each kind, twice" "$work/profile.log" profile

# check_profile: nothing was dropped, and the functions that the server's strings and tables come from are there.
check_profile() {
  "$hearth" show --sort=allocs "$work/redis.prof" >"$work/show.txt"
  local function
  grep -q "dropped *0 allocations" "$work/show.txt" || fail "allocations are missing in the profile"
  for function in sdsnewlen dictAddRaw zmalloc; do
    grep -q "$function" "$work/show.txt" || fail "no allocation of $function in the profile"
  done
}
check_profile
say "what the profile says: hearth show"
show_profile "$work/redis.prof" 45 "$work/show.txt"
