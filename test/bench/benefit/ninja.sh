# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ninja on a graph of 240,000 edges.
# shellcheck shell=bash disable=SC2034,SC2154

source "$realworld/ninja.sh"
training="10000 1" measured="120000 2" counted="2000 3" tuning="120000 4"
if $quick; then
  training="1500 1" measured="3000 2" tuning="3000 4"
fi

# workload INPUT COMMAND...: what would be built; nothing is.
workload() {
  local edges seed
  read -r edges seed <<<"$1"
  make_input "build-$edges-$seed.ninja" build_file "$edges" "$seed"
  "${@:2}" -f "$input" -n
}
