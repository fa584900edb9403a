# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sqlite: the shell of the database, fed with a script of SQL. Every block comes from one malloc behind a function pointer
# (sqlite3MemMalloc), so no inlining can tell its callers apart.
# shellcheck shell=bash disable=SC2034,SC2154

package=sqlite3
sources=(sqlite3.c shell.c)
compile_flags=(-w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION)
link_flags=(-lm)

# A program among its own tests: it runs statements that fuzzing has found, here those of two of its eight files.
main_source=shell.c
test_sources=(test/{fuzzcheck,ossfuzz,fuzzinvariants,vt02}.c ext/recover/{dbdata,sqlite3recover}.c)
test_compile_flags=("-I$tree" "-I$tree/test" "-I$tree/ext/recover" -DSQLITE_OSS_FUZZ)

# self_test PROGRAM
self_test() { "$1" "$tree"/test/fuzzdata{4,6}.db; }

# The two files that hold all of sqlite: made by its own makefile, which needs Tcl.
prepare() {
  ./configure --disable-tcl --disable-readline
  make sqlite3.c shell.c
}

# Inputs are "ORDERS SEED".
training="8000 1" measured="40000 2"
if $quick; then
  training="3000 1" measured="6000 2"
fi

# script ORDERS SEED: SQL about made-up orders, the same for the same arguments.
script() {
  awk -v orders="$1" -v seed="$2" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    function any_order() { return below(orders) + 1 }
    BEGIN {
      state = seed * 7919 + 1
      split("Aarhus Bologna Cork Dresden Evora Freiburg Gdansk Haarlem", town)
      split("pan table lamp towel chair toolbox pump blanket mill coat", good)
      customers = int(orders / 10) + 1
      print "create table customer(id integer primary key, name text, town text);"
      print "create table purchase(id integer primary key, customer integer, day integer, cents integer, note text);"
      print "create table item(purchase integer, good text, count integer);"
      print "begin;"
      for (i = 1; i <= customers; i++)
        printf "insert into customer values(%d, '\''customer %d'\'', '\''%s'\'');\n", i, below(100000), town[below(8) + 1]
      for (i = 1; i <= orders; i++) {
        printf "insert into purchase values(%d, %d, %d, %d, '\''leave it at number %d, and ring %d times'\'');\n", i,
          below(customers) + 1, below(365), below(100000), below(200), below(9)
        for (j = below(4); j >= 0; j--)
          printf "insert into item values(%d, '\''%s'\'', %d);\n", i, good[below(10) + 1], below(9) + 1
      }
      print "create index purchase_customer on purchase(customer);"
      print "create index purchase_day on purchase(day, cents);"
      print "create index item_purchase on item(purchase);"
      print "commit;"
      print "select town, count(*), sum(cents) from customer c join purchase p on p.customer = c.id group by town;"
      print "select good, sum(count), sum(cents) from item i join purchase p on p.id = i.purchase group by good order by 2;"
      print "select day, group_concat(id) from (select day, id from purchase where cents > 99000 order by id) group by day;"
      for (i = 0; i < orders / 4; i++) {
        printf "select sum(cents), max(cents) from purchase where day = %d and cents < %d;\n", below(365), below(9000)
        printf "select upper(name), town, good, note from purchase p join customer c on c.id = p.customer"
        printf " join item i on i.purchase = p.id where p.id = %d order by good, count;\n", any_order()
        printf "update purchase set cents = cents + %d, note = note || '\'' twice'\'' where id = %d;\n", below(100), any_order()
        if (i % 20 == 0)
          printf "delete from item where purchase = %d;\n", any_order()
      }
      print "select count(*), sum(length(note)), sum(note like '\''%number 7,%'\'') from purchase;"
      print "select replace(note, '\''ring'\'', '\''knock'\'') n, count(*) from purchase group by n order by 2 desc, n limit 10;"
    }'
}

# workload INPUT COMMAND...
workload() {
  local orders seed
  read -r orders seed <<<"$1"
  local file=$work/script-$orders-$seed.sql
  shift
  [[ -e $file ]] || { script "$orders" "$seed" >"$file.new" && mv "$file.new" "$file"; }
  "$@" -batch -bail :memory: <"$file"
}
