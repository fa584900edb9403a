# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ninja: reads what a build consists of into a graph, which lives until the process ends, and walks it. C++: nodes, edges
# and their strings come from operator new, mostly in functions of the standard library.
# shellcheck shell=bash disable=SC2034,SC2154

package=ninja-build
sources=(src/{build,build_log,clean,clparser,debug_flags,depfile_parser,deps_log,disk_interface,dyndep,dyndep_parser}.cc
  src/{edit_distance,eval_env,graph,graphviz,json,lexer,line_printer,manifest_parser,metrics,missing_deps,ninja}.cc
  src/{parser,state,status,string_piece_util,subprocess-posix,util,version}.cc)
compile_flags=(-std=c++14 -w)
link_flags=(-lstdc++ -lm -pthread)

# Its own tests: those that its CMakeLists.txt lists.
main_source=src/ninja.cc
test_sources=(src/{build_log,build,clean,clparser,depfile_parser,deps_log,disk_interface,dyndep_parser}_test.cc
  src/{edit_distance,graph,json,lexer,manifest_parser,missing_deps,ninja,state,string_piece_util,subprocess}_test.cc
  src/{test,util_test}.cc)
test_link_flags=(-lgtest)

# self_test PROGRAM
self_test() { "$1"; }

prepare() { :; } # the package has the files that re2c generates

# Inputs are "EDGES SEED".
training="4000 1" measured="20000 2"
if $quick; then
  training="1500 1" measured="3000 2"
fi

# build_file EDGES SEED: a made-up build, the same for the same arguments. What has no inputs is made from nothing, so that
# no file has to exist.
build_file() {
  awk -v edges="$1" -v seed="$2" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    BEGIN {
      state = seed * 7919 + 1
      split("core net gui store parse audio", part)
      print "cflags = -O2 -g -Iinclude -Ithird-party/include"
      print "rule make\n  command = generate --seed $seed --to $out"
      print "rule compile\n  command = cc $cflags $defines -MD -MF $out.d -c $in -o $out\n  description = CC $out"
      print "rule link\n  command = cc -o $out $in $libraries\n  description = LINK $out"
      for (i = 1; i <= edges; i++) {
        printf "build generated/%s/source_%d.c: make\n  seed = %d\n", part[i % 6 + 1], i, below(100000)
        printf "build objects/%s/source_%d.o: compile generated/%s/source_%d.c", part[i % 6 + 1], i, part[i % 6 + 1], i
        if (i > 1) {
          other = below(i - 1) + 1
          printf " | generated/%s/source_%d.c", part[other % 6 + 1], other
        }
        printf "\n  defines = -DPART=%s -DNUMBER=%d\n", part[i % 6 + 1], below(1000)
        if (i % 20 == 0) {
          printf "build program_%d: link", i
          for (j = i - 19; j <= i; j++)
            printf " objects/%s/source_%d.o", part[j % 6 + 1], j
          print "\n  libraries = -lm -lpthread"
        }
      }
    }'
}

# workload INPUT COMMAND...: what would be built, and what ninja says of the graph. Nothing is built.
workload() {
  local edges seed
  read -r edges seed <<<"$1"
  local file=$work/build-$edges-$seed.ninja
  shift
  [[ -e $file ]] || { build_file "$edges" "$seed" >"$file.new" && mv "$file.new" "$file"; }
  "$@" -f "$file" -n
  "$@" -f "$file" -t commands
  "$@" -f "$file" -t compdb
  "$@" -f "$file" -t targets all
}
