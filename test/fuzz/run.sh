#!/usr/bin/env bash
# Builds a fuzz target with libFuzzer and sanitizers, and runs it from its corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<END
usage: test/fuzz/run.sh [--build=DIR] [--runs=N] [--seconds=N] [--jobs=N] [--no-sanitizers] TARGET...
  TARGET           indexed, text, raw, heap, trace, llvm, llvm_yaml, views, debug_info,
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

build=build runs=-1 seconds=60 jobs=1 sanitizers=-fsanitize=address,undefined targets=()
for argument in "$@"; do
  case $argument in
    --build=?*) build=${argument#--build=} ;;
    --runs=[1-9]*) runs=${argument#--runs=} ;;
    --seconds=[0-9]*) seconds=${argument#--seconds=} ;;
    --jobs=[1-9]*) jobs=${argument#--jobs=} ;;
    --no-sanitizers) sanitizers='' ;;
    -h | --help) usage && exit ;;
    all) targets+=(indexed text raw heap trace llvm llvm_yaml views debug_info md unwind) ;;
    indexed | text | raw | heap | trace | llvm | llvm_yaml | views | debug_info | md | unwind) targets+=("$argument") ;;
    *) usage >&2 && echo "unknown argument '$argument'" >&2 && exit 2 ;;
  esac
done
((${#targets[@]} > 0)) || { usage >&2 && exit 2; }

flags=(-g -O2 -fsanitize=fuzzer-no-link -Itest/fuzz -Iprofile/include -Iprofile/format -Iprofile/base -Iprofile -Iprofile/view -Iprofile/report
  -Imdlib -Imdlib/include -Iruntime "-I$(llvm-config-22 --includedir)")
sanitize=-fsanitize=fuzzer
if [[ -n $sanitizers ]]; then
  flags+=("$sanitizers" -fno-sanitize-recover=undefined -fno-sanitize=vptr)
  sanitize=$sanitize,${sanitizers#*=}
fi
objects=$build/fuzz/objects
mkdir -p "$objects"

# compile SOURCE: as an object with coverage. C++ sources are LLVM's side of mdlib.
compile() {
  local compiler=(clang-22 -std=gnu11)
  [[ $1 != *.cpp ]] || compiler=(clang++-22 -fno-rtti -std=c++17)
  "${compiler[@]}" "${flags[@]}" -c "$1" -o "$objects/${1//\//_}.o"
}

# library NAME SOURCE...: an archive, so that each target takes from it what it reads with.
library() {
  local archive=$objects/lib$1.a members=() source
  shift
  for source; do
    compile "$source"
    members+=("$objects/${source//\//_}.o")
  done
  rm -f "$archive" && ar rcs "$archive" "${members[@]}"
}

echo '==> building the libraries'
library profile profile/*.c profile/llvm/*.c profile/symbolise/*.c profile/trace/*.c profile/view/*.c profile/report/*.c \
  "$build/profile/page_assets.c"

for target in "${targets[@]}"; do
  work=$build/fuzz/$target
  seeds=test/fuzz/corpus/${target//_/-} sources=("test/fuzz/fuzz_$target.c")
  libraries=("$objects/libprofile.a" -lyaml -lelf -lz -lzstd -lm)
  mkdir -p "$work/corpus"
  case $target in
    indexed | text | views) seeds=test/fuzz/corpus/text ;;
    heap) seeds=test/fuzz/corpus/raw ;;
    unwind) sources+=(runtime/cfi.c) libraries=() ;;
    md)
      library md mdlib/*.c mdlib/*.cpp
      sources+=(test/fuzz/mutate_md.c)
      libraries=("$objects/libmd.a" "-L$(llvm-config-22 --libdir)" -lLLVM-22)
      ;;
  esac
  echo "==> building fuzz_$target"
  for source in "${sources[@]}"; do compile "$source"; done
  sources=("${sources[@]//\//_}") && sources=("${sources[@]/%/.o}")
  clang++-22 "$sanitize" "${sources[@]/#/$objects/}" "${libraries[@]}" -o "$work/fuzz_$target"
  cp -rn "$seeds"/. "$work/corpus/"
  case $target in
    indexed | views) for text in test/fuzz/corpus/text/*; do
      "$build/bin/hearth" index -q "$text" -o "$work/corpus/$(basename "$text").prof" 2>/dev/null || true
    done ;;
    llvm) cp -rn test/golden/llvm/. "$work/corpus/" ;;
    raw) cp -rn test/golden/raw/*[0-9] "$work/corpus/" ;;
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
