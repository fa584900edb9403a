# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The scripts of examples/realworld/lua, with much more to hold at once.
# shellcheck shell=bash disable=SC2034,SC2154

source "$realworld/lua.sh"
compile_flags+=("-Dluai_makeseed(L)=1u") # by clock and addresses, instructions differ by 2 % from run to run
training="12 60000 100000" measured="14 200000 450000" counted="10 20000 20000" tuning="14 210000 440000"
if $quick; then
  training="10 20000 20000" measured="11 30000 30000" tuning="11 31000 31000"
fi

# workload INPUT COMMAND...: all scripts in one process.
workload() {
  local trees strings tables
  read -r trees strings tables <<<"$1"
  "${@:2}" -e "arg = { [0] = 'binary_trees', '$trees' } dofile 'lua/binary_trees.lua'" \
    -e "arg = { [0] = 'strings', '$strings' } dofile 'lua/strings.lua'" \
    -e "arg = { [0] = 'tables', '$tables' } dofile 'lua/tables.lua'"
}
