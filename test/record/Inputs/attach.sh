#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Start a program that takes orders on its standard input, and record it twice: the first time until it is told to end, the second
# time until the program ends.
#
# usage: attach.sh HEARTH OUTPUT PROGRAM [ARGUMENT...]     writes OUTPUT.1 and OUTPUT.2
set -euo pipefail
hearth=$1 output=$2
shift 2
rm -f "$output".*
mkfifo "$output.orders"
: >"$output.done"

# await FILE TEXT PROCESS: until the file has what the process is to write
await() {
  until grep -qF "$2" "$1"; do
    kill -0 "$3" || { echo "attach.sh: '$2' did not come to $1" >&2 && exit 1; }
    sleep 0.05
  done
}
order() {
  echo "$1" >&3
  await "$output.done" "done $1" "$program"
}
begin() {
  : >"$output.told"
  "$hearth" record --pid="$program" -o "$output.$1" 2>>"$output.told" &
  recorder=$!
  await "$output.told" recording "$recorder"
}

"$@" <"$output.orders" >"$output.done" &
program=$!
trap 'kill -KILL $program 2>/dev/null || true' EXIT
exec 3>"$output.orders"
order 1 # it runs
begin 1
"$hearth" record --pid="$program" -o "$output.3" || echo "again: $?"
order 2
kill -TERM "$recorder"
wait "$recorder" || echo "record: $?"
cat "$output.told"
order 3 # not recorded
begin 2
order 4
echo 0 >&3
wait "$recorder" || echo "record: $?"
wait "$program" || echo "program: $?"
