# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sqlite with a database of some 100 MB in memory.
# shellcheck shell=bash disable=SC2034,SC2154

source "$realworld/sqlite.sh"
training="40000 1" measured="400000 2" counted="4000 3" tuning="400000 4"
if $quick; then
  training="3000 1" measured="6000 2" tuning="6000 4"
fi

# workload INPUT COMMAND...
workload() {
  local orders seed
  read -r orders seed <<<"$1"
  make_input "script-$orders-$seed.sql" script "$orders" "$seed"
  "${@:2}" -batch -bail :memory: <"$input"
}
