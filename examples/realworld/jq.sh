# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# jq: parses JSON into values (strings, arrays, objects), which live until a filter is done with them. All of them come
# from jv_mem_alloc, so what a block is for can be told from the callers only.
# shellcheck shell=bash disable=SC2034,SC2154

package=jq
sources=(src/{main,builtin,bytecode,compile,execute,jq_test,jv,jv_alloc,jv_aux,jv_dtoa,jv_file,jv_parse,jv_print}.c
  src/{jv_unicode,lexer,linker,locfile,parser,util}.c)
link_flags=(-lm)

# What configure finds with the C library of Debian 12; regular expressions (libonig) are left out.
compile_flags=("-I$tree" -w -D_GNU_SOURCE -DIEEE_8087=1)
for feature in alloca_h alloca isatty memmem mkstemp strptime strftime timegm gmtime_r localtime_r gmtime gettimeofday \
  tm_tm_gmt_off pthread_key_create pthread_once atexit acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos \
  cosh drem exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot j0 j1 jn ldexp lgamma lgamma_r \
  log log10 log1p log2 logb modf nearbyint nextafter nexttoward pow remainder rint round scalb scalbln significand sin \
  sinh sqrt tan tanh tgamma trunc y0 y1 yn; do
  compile_flags+=("-DHAVE_${feature^^}=1")
done

# The two files that jq's makefile generates.
prepare() {
  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' src/builtin.jq >src/builtin.inc
  echo '#define JQ_VERSION "1.6"' >src/version.h
}

# self_test PROGRAM: its own tests, which it runs itself.
self_test() { "$1" -L "$tree/tests/modules" --run-tests "$tree/tests/jq.test"; }

# Inputs are "RECORDS SEED".
training="6000 1" measured="30000 2"
if $quick; then
  training="2000 1" measured="4000 2"
fi

# orders RECORDS SEED: a JSON array of made-up orders, the same for the same arguments.
orders() {
  awk -v records="$1" -v seed="$2" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    BEGIN {
      state = seed * 7919 + 1
      split("Aarhus Bologna Cork Dresden Evora Freiburg Gdansk Haarlem", town)
      split("pan table lamp towel chair toolbox pump blanket mill coat", good)
      printf "["
      for (i = 1; i <= records; i++) {
        printf "%s{\"id\":%d,\"customer\":%d,\"town\":\"%s\",\"amount\":%d.%02d,\"note\":\"", (i > 1 ? ",\n" : ""), i,
          below(5000), town[below(8) + 1], below(1000), below(100)
        printf "leave it with the neighbour at number %d, and ring %d times\",\"items\":[", below(200), below(9)
        items = below(5) + 1
        for (j = 1; j <= items; j++)
          printf "%s{\"good\":\"%s\",\"count\":%d}", (j > 1 ? "," : ""), good[below(10) + 1], below(9) + 1
        printf "]}"
      }
      print "]"
    }'
}

# workload INPUT COMMAND...: a few filters, each in a process of its own.
workload() {
  local records seed filter
  read -r records seed <<<"$1"
  local file=$work/orders-$records-$seed.json
  shift
  [[ -e $file ]] || { orders "$records" "$seed" >"$file.new" && mv "$file.new" "$file"; }
  # shellcheck disable=SC2016  # variables of jq
  local filters=(
    'map(select(.amount > 500)) | length'
    'group_by(.town) | map({town: .[0].town, orders: length, amount: (map(.amount) | add)})'
    'sort_by(.amount) | .[-5:] | map(.id)'
    '[range(6) as $i | .[] | .amount * $i + .customer] | add'
    'map(.items | map(.count) | add) | add'
  )
  for filter in "${filters[@]}"; do
    "$@" -c "$filter" "$file"
  done
}
