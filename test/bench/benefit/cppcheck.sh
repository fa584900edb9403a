# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cppcheck on a long source file: C++, lists of tokens with trees, scopes and values that point into each other.
# shellcheck shell=bash disable=SC2034,SC2154

package=cppcheck
compile_flags=(-w -std=c++11 "-I$tree/lib" "-I$tree/cli" "-I$tree/externals/simplecpp" "-I$tree/externals/tinyxml2"
  "-I$tree/externals/picojson" -DNDEBUG "-DFILESDIR=\"$tree\"")
link_flags=(-lstdc++ -lm -pthread)
prepare() { :; }

list_sources() { find lib cli externals -name '*.cpp' | sort; }

# Inputs are "FUNCTIONS ENTRIES SEED".
training="200 4000 1" measured="600 16000 2" counted="40 300 3" tuning="600 16000 4"
if $quick; then
  training="40 300 1" measured="100 1000 2" tuning="100 1000 4"
fi

# source_file FUNCTIONS ENTRIES SEED: functions and a table, the same for the same arguments.
source_file() {
  awk -v functions="$1" -v entries="$2" -v seed="$3" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    BEGIN {
      state = seed * 7919 + 1
      print "struct entry { const char *name; int first, second; double weight; };"
      for (i = 0; i < functions; i++) {
        printf "static int step_%d(struct entry *e, int n)\n{\n  int sum = %d;\n", i, below(100)
        printf "  for (int i = 0; i < n; i++)\n    if (e[i].first > sum)\n"
        printf "      sum += e[i].second * %d;\n    else if (n > %d)\n      e[i].weight /= 2;\n", below(9) + 1, below(50)
        print "  return sum;\n}"
      }
      print "static const struct entry table[] = {"
      for (i = 0; i < entries; i++)
        printf "  {\"name of %d\", %d, 0x%x, %d.5},\n", below(100000), below(1000), below(1000), below(13)
      print "};"
    }'
}

# workload INPUT COMMAND...
workload() {
  local arguments
  read -ra arguments <<<"$1"
  make_input "source-${1// /-}.cpp" source_file "${arguments[@]}"
  "${@:2}" -q "$input" 2>&1
}
