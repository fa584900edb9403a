# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# orders, the program of the quickstart: many small blocks, few contexts, nearly all accesses to an index.
# shellcheck shell=bash disable=SC2034,SC2154

tree=$repository/examples/quickstart
sources=({feed,index,main,memory,order,store}.c)
training="60000 600000 1" measured="100000 500000 2" counted="5000 20000 3"
if $quick; then
  training="30000 300000 1" measured="40000 300000 2"
fi

# workload INPUT COMMAND...: INPUT is "ORDERS QUERIES SEED".
workload() {
  local arguments
  read -ra arguments <<<"$1"
  "${@:2}" "${arguments[@]}"
}
