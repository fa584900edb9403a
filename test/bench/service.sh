#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A service under load that is recorded with accesses, sampling on and off by turns.
# shellcheck disable=SC2154  # what lib.sh reads and sets
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/service.sh [--quick] [--minutes=N]
  --minutes=N  how long the service is under load in all (default 60)
  --quick      one minute
The distribution's redis-server, and redis-benchmark as load. Four subjects, in short turns:
  plain     as it is
  glibc     as it is, its allocator replaced by the C library's
  sampled   hearth record, with the sample that --accesses takes
  accesses  hearth record --accesses; sampling is switched off and on twenty times, and each time a part is written
It prints p99 of a request against plain, resident memory for each byte that the server counts as used, against plain's, and what
the parts hold. It fails if descriptors or mappings are left behind, or if the parts, merged in two groupings, differ.
END
}

minutes=60
parse_arguments '--quick minutes=1' '--minutes=[1-9]*' -- "$@"
"$repository/examples/setup.sh" --for=bench
for tool in redis-server redis-benchmark redis-cli; do
  command -v "$tool" >/dev/null || fail "$tool is not there: install redis-server and redis-tools"
done
directory=$build/bench/service
rm -rf "$directory" && mkdir -p "$directory"
step "running redis-server under load for $minutes min" "$directory/log" \
  python3 "$bench/service.py" "$hearth" "$directory" "$minutes"
cat "$directory/report"
merged() { "$hearth" merge -q "$@"; }
mapfile -t parts < <(ls -v "$directory"/raw*)
half=$((${#parts[@]} / 2))
for part in "${parts[@]}"; do "$hearth" index -q --symbols "$part" -o "$part.heap"; done
heaps=("${parts[@]/%/.heap}")
merged "${heaps[@]}" -o "$directory/all"
merged "${heaps[@]:0:half}" -o "$directory/first"
merged "${heaps[@]:half}" -o "$directory/second"
merged "$directory/second" "$directory/first" -o "$directory/grouped"
cmp "$directory/all" "$directory/grouped" || fail "the parts in two groupings differ"
echo "${#parts[@]} parts: the same profile in two groupings"
"$hearth" show "$directory/all" | head -n 12
