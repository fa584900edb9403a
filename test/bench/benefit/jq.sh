# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# jq on a file of 100 MB: all of it becomes a tree of values before the filter begins.
# shellcheck shell=bash disable=SC2034,SC2154

source "$realworld/jq.sh"
training="60000 1" measured="420000 2" counted="6000 3" tuning="420000 4"
touched_mib=1280
if $quick; then
  training="2000 1" measured="4000 2" counted="1000 3" tuning="4000 4"
fi

# workload INPUT COMMAND...
workload() {
  local records seed
  read -r records seed <<<"$1"
  make_input "orders-$records-$seed.json" orders "$records" "$seed"
  "${@:2}" -c '[map(select(.amount > 500)) | length, (group_by(.town) | map({town: .[0].town, orders: length,
    amount: (map(.amount) | add)})), (map(.items | map(.count) | add) | add)]' "$input"
}
