#!/usr/bin/env bash
# Builds a fuzz target with libFuzzer and sanitizers, and runs it from its corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<END
usage: test/fuzz/run.sh [--runs=N] [--seconds=N] [--jobs=N] [--no-sanitizers] TARGET...
  TARGET           indexed, text, raw, llvm, llvm_yaml, views, debug_info, md, or all
  --runs=N         executions of each (default: no limit)
  --seconds=N      time for each (default 60; 0: no limit)
  --jobs=N         processes for each (default 1)
  --no-sanitizers  several times faster; finds crashes only
Everything is below build/fuzz; a finding is left there as crash-*. Needs clang-22 and libclang-rt-22-dev, and for md
llvm-22-dev.
END
}

runs=-1 seconds=60 jobs=1 sanitizers=-fsanitize=address,undefined targets=()
for argument in "$@"; do
  case $argument in
    --runs=[1-9]*) runs=${argument#--runs=} ;;
    --seconds=[0-9]*) seconds=${argument#--seconds=} ;;
    --jobs=[1-9]*) jobs=${argument#--jobs=} ;;
    --no-sanitizers) sanitizers='' ;;
    -h | --help) usage && exit ;;
    all) targets+=(indexed text raw llvm llvm_yaml views debug_info md) ;;
    indexed | text | raw | llvm | llvm_yaml | views | debug_info | md) targets+=("$argument") ;;
    *) usage >&2 && echo "unknown argument '$argument'" >&2 && exit 2 ;;
  esac
done
((${#targets[@]} > 0)) || { usage >&2 && exit 2; }

flags=(-g -O1 -Itest/fuzz -Iprofile/include -Iprofile/format -Iprofile)
[[ -z $sanitizers ]] || flags+=("$sanitizers" -fno-sanitize-recover=undefined -fno-sanitize=vptr)

# compile TARGET SOURCE...: with coverage, as objects in $work; then link. C++ sources are LLVM's side of mdlib.
compile() {
  local target=$1 source
  shift
  for source; do
    case $source in
      *.cpp) clang++-22 "${flags[@]}" -fsanitize=fuzzer-no-link -fno-rtti -std=c++17 -c "$source" -o "$work/${source//\//_}.o" ;;
      *) clang-22 "${flags[@]}" -fsanitize=fuzzer-no-link -c "$source" -o "$work/${source//\//_}.o" ;;
    esac
  done
  # shellcheck disable=SC2086  # none or one
  clang++-22 -fsanitize=fuzzer $sanitizers "$work"/*.o "${libraries[@]}" -o "$work/fuzz_$target"
}

# The library that the compiler's plugin links, and what reading LLVM's forms needs.
profile=(profile/*.c profile/llvm/*.c)
for name in raw raw_hearth raw_llvm dump_contexts index workers lost_contexts; do
  profile=("${profile[@]/profile\/$name.c/}")
done
symboliser=(profile/symbolise/*.c profile/{raw,raw_hearth,raw_llvm,dump_contexts,index,workers,lost_contexts}.c)

for target in "${targets[@]}"; do
  work=build/fuzz/$target
  seeds=test/fuzz/corpus/${target//_/-} libraries=(-lyaml)
  mkdir -p "$work/corpus"
  rm -f "$work"/*.o
  sources=("test/fuzz/fuzz_$target.c")
  case $target in
    indexed | text) seeds=test/fuzz/corpus/text ;;
    views)
      seeds=test/fuzz/corpus/text sources+=(profile/view/*.c)
      flags+=(-Iprofile/view) libraries+=(-lz)
      ;;
    raw | debug_info) sources+=("${symboliser[@]}") libraries+=(-ldw -lelf -lz -lzstd) ;;
    md)
      flags+=(-Imdlib -Imdlib/include "-I$(llvm-config-22 --includedir)")
      sources+=(test/fuzz/mutate_md.c mdlib/*.c mdlib/*.cpp)
      libraries=("-L$(llvm-config-22 --libdir)" -lLLVM-22)
      ;;
  esac
  if [[ $target != md ]]; then
    for source in "${profile[@]}"; do [[ -z $source ]] || sources+=("$source"); done
  fi
  echo "==> building fuzz_$target"
  compile "$target" "${sources[@]}"
  cp -rn "$seeds"/. "$work/corpus/"
  case $target in
    indexed | views) for text in test/fuzz/corpus/text/*; do
      build/bin/hearth index -q "$text" -o "$work/corpus/$(basename "$text").prof" 2>/dev/null || true
    done ;;
    llvm) cp -rn test/golden/llvm/. "$work/corpus/" ;;
  esac
  echo "==> running fuzz_$target"
  (cd "$work" && "./fuzz_$target" -runs="$runs" -max_total_time="$seconds" -max_len=16384 -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 -fork=$((jobs > 1 ? jobs : 0)) corpus 2>fuzz.log) || {
    tail -n 30 "$work/fuzz.log" >&2
    echo "fuzz_$target: a finding, see $work" >&2
    exit 1
  }
  grep -aE 'number_of_executed_units|average_exec_per_sec' "$work/fuzz.log" || tail -n 1 "$work/fuzz.log"
done
