#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds fuzz targets with libFuzzer and sanitizers (preset fuzz), and runs each from its corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/fuzz/run.sh [--build=DIR] [--runs=N] [--seconds=N] [--jobs=N] [--no-sanitizers] TARGET...
  TARGET           indexed, text, raw, heap, trace, llvm, views, debug_info,
                   md, unwind, or all
  --build=DIR      where Hearth was built (default build)
  --runs=N         executions of each (default: no limit)
  --seconds=N      time for each (default 60; 0: no limit)
  --jobs=N         processes for each (default 1)
  --no-sanitizers  several times faster; finds crashes only
Everything is below DIR/fuzz; a finding is left there as crash-*. Needs clang-22 and libclang-rt-22-dev, and for md
llvm-22-dev.
END
}

build=build runs=-1 seconds=60 jobs=1 sanitizers=address,undefined targets=()
parse_arguments '--build=?*' '--runs=[1-9]*' '--seconds=[0-9]*' '--jobs=[1-9]*' '--no-sanitizers sanitizers=' \
  'targets=all|indexed|text|raw|heap|trace|llvm|views|debug_info|md|unwind' -- "$@"
((${#targets[@]} > 0)) || { usage >&2 && misused "say which targets"; }
[[ " ${targets[*]} " != *' all '* ]] || targets=(indexed text raw heap trace llvm views debug_info md unwind)

tree=$build/fuzz/tree
[[ -n $sanitizers ]] || tree=$build/fuzz/tree-plain
echo '==> building the targets'
cmake --preset fuzz -B "$tree" "-DHEARTH_SANITIZE=$sanitizers" >"$build/fuzz-configure.log" || {
  cat "$build/fuzz-configure.log" >&2
  exit 1
}
cmake --build "$tree" --target "${targets[@]/#/fuzz_}" >"$build/fuzz-build.log" || {
  tail -n 30 "$build/fuzz-build.log" >&2
  exit 1
}

for target in "${targets[@]}"; do
  work=$build/fuzz/$target
  seeds=test/fuzz/corpus/${target//_/-}
  program=$(realpath "$tree")/bin/fuzz_$target
  mkdir -p "$work/corpus"
  case $target in
    indexed | text | views) seeds=test/fuzz/corpus/text ;;
    heap) seeds=test/fuzz/corpus/raw ;;
  esac
  cp -rn "$seeds"/. "$work/corpus/"
  case $target in
    indexed | views) for text in test/fuzz/corpus/text/*; do
      "$build/bin/hearth" index -q "$text" -o "$work/corpus/$(basename "$text").prof" 2>/dev/null || true
    done ;;
    llvm) cp -rn test/golden/llvm/. "$work/corpus/" ;;
    raw) cp -rn test/golden/raw/*[0-9] "$work/corpus/" ;;
  esac
  echo "==> running fuzz_$target"
  (cd "$work" && "$program" -runs="$runs" -max_total_time="$seconds" -max_len=16384 -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 -fork=$((jobs > 1 ? jobs : 0)) corpus 2>fuzz.log) || {
    tail -n 30 "$work/fuzz.log" >&2
    echo "fuzz_$target: a finding, see $work" >&2
    exit 1
  }
  grep -aE 'number_of_executed_units|average_exec_per_sec' "$work/fuzz.log" || tail -n 1 "$work/fuzz.log"
done
