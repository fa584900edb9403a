#!/usr/bin/env bash
# debug_forms.sh SYMBOLISE SYMBOLIZER COMPILER VERSION [FLAG]...: build inlining.cpp with debug information of a version of
# DWARF in all its forms, in the current folder, and compare the frames of all calls. A line for each form:
# "FORM: N calls, ..., equal". What a compiler or a tool of 2022 cannot make is left out: see the conditions.
set -euo pipefail
inputs=$(dirname "$0")
symbolise=$1 symbolizer=$2 compiler=$3 version=$4
shift 4
flags=(-O2 "-gdwarf-$version" -w "$@")
link=("-Wl,--build-id")

gcc=false new=false
case $("$compiler" --version) in
  *clang\ version\ 14*) ;;
  *clang*) new=true ;;
  *) gcc=true ;;
esac

# compare FORM REFERENCE [BINARY [DEBUG-DIR]]: llvm-symbolizer 22 does not end, or loses inlined frames, on the
# .debug_rnglists of GCC 12. The same code with DWARF 4 says what is right.
compare() {
  local form=$1
  shift
  printf '%s: ' "$form"
  timeout 600 python3 "$inputs/compare_frames.py" "$symbolise" "$symbolizer" "$@"
}
build() { "$compiler" "${flags[@]}" "${link[@]}" "$inputs"/inlining*.cpp "$@"; }

build -o plain
reference=plain
if $gcc; then
  reference=reference
  "$compiler" "${flags[@]}" -gdwarf-4 "${link[@]}" "$inputs"/inlining*.cpp -o reference
fi
compare plain "$reference" plain

build -gz=zlib -o zlib
[[ $(readelf -tW zlib) == *COMPRESSED* ]]
compare zlib "$reference" zlib
if $new; then
  build -fuse-ld=lld -gz=zstd -o zstd
  build -fuse-ld=lld -o by_lld
  [[ $(readelf -tW zstd) == *COMPRESSED* ]]
  compare zstd by_lld zstd
fi

if [[ $version == 4 ]]; then # dwz of 2022 does not know Clang's DWARF 5
  cp plain moved
  cp plain other
  dwz -m common.debug moved other
  compare dwz "$reference" moved
  rm common.debug
  echo "common part missing: $("$symbolise" moved <<<0x0 2>&1 || true)"
fi

if [[ $version == 5 ]]; then
  for unit in inlining inlining_other; do
    "$compiler" "${flags[@]}" -gsplit-dwarf -c "$inputs/$unit.cpp" -o "$unit.o"
  done
  "$compiler" inlining.o inlining_other.o "${link[@]}" -o split
  compare split "$reference" split
  if ! $gcc; then # llvm-dwp does not end on GCC's DWARF 5, and GNU's dwp does not know DWARF 5
    "${symbolizer/llvm-symbolizer/llvm-dwp}" -e split -o split.dwp
    mkdir hidden
    mv ./*.dwo hidden
    compare package "$reference" split
    rm split.dwp
  else
    mkdir hidden
    mv ./*.dwo hidden
  fi
  compare "single files elsewhere" "$reference" split "$PWD/hidden"
  mv hidden/inlining_other.dwo .
  echo "missing: $("$symbolise" split <<<0x0 2>&1 || true)"
fi

cp plain stripped
objcopy --only-keep-debug stripped stripped.debug
strip stripped
id=$(readelf -n plain | awk '/Build ID/ { print $3 }')
mkdir -p "store/.build-id/${id:0:2}"
cp stripped.debug "store/.build-id/${id:0:2}/${id:2}.debug"
compare "build id" "$reference" stripped store
objcopy --add-gnu-debuglink=stripped.debug stripped linked
compare "debug link" "$reference" linked
mkdir .debug
mv stripped.debug .debug
compare "debug link below" "$reference" linked
printf 'x' >>.debug/stripped.debug
echo "other build: $("$symbolise" linked <<<0x0 2>&1 || true)"
rm .debug/stripped.debug
echo "no debug file: $("$symbolise" linked <<<0x0 2>&1 || true)"
