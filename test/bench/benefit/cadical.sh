# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cadical, a SAT solver in C++: clauses, and for each literal the list of those that watch it.
# shellcheck shell=bash disable=SC2034,SC2154

package=cadical
compile_flags=(-w -std=c++11 -DNBUILD -DNDEBUG)
link_flags=(-lstdc++ -lm)
prepare() { :; }

list_sources() { find src -name '*.cpp' ! -name mobical.cpp | sort; }

# Inputs are "VARIABLES CONFLICTS SEED".
training="40000 100 1" measured="300000 150 2" counted="5000 100 3" tuning="300000 150 4"
if $quick; then
  training="5000 500 1" measured="10000 500 2" counted="2000 100 3" tuning="10000 500 4"
fi

# formula VARIABLES SEED: clauses of three to six literals, the same for the same arguments.
formula() {
  awk -v variables="$1" -v seed="$2" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    BEGIN {
      state = seed * 7919 + 1
      clauses = int(variables * 3.9)
      print "p cnf", variables, clauses
      for (i = 0; i < clauses; i++) {
        near = below(variables)
        for (j = 3 + (i % 8 == 0) * below(4); j > 0; j--)
          printf "%d ", (below(2) ? 1 : -1) * ((near + (below(3) ? below(1000) : below(variables))) % variables + 1)
        print 0
      }
    }'
}

# workload INPUT COMMAND...: ends with 0, 10 or 20 for unknown, satisfiable and not.
workload() {
  local variables conflicts seed status=0
  read -r variables conflicts seed <<<"$1"
  make_input "formula-$variables-$seed.cnf" formula "$variables" "$seed"
  "${@:2}" -q -c "$conflicts" "$input" || status=$?
  ((status == 0 || status == 10 || status == 20))
}
