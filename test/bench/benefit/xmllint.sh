# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# xmllint on a file of 70 MB, with libxml2 compiled in: a tree of nodes, and sets of them that a search collects.
# shellcheck shell=bash disable=SC2034,SC2154

package=libxml2
sources=({SAX,SAX2,buf,c14n,catalog,chvalid,debugXML,dict,encoding,entities,error,globals,hash,HTMLparser,HTMLtree}.c
  {list,nanoftp,nanohttp,parser,parserInternals,pattern,relaxng,schematron,threads,tree,uri,valid,xinclude,xlink}.c
  {xmlIO,xmllint,xmlmemory,xmlmodule,xmlreader,xmlregexp,xmlsave,xmlschemas,xmlschemastypes,xmlstring,xmlunicode}.c
  {xmlwriter,xpath,xpointer}.c)
compile_flags=(-w "-I$tree" "-I$tree/include" -D_REENTRANT)
link_flags=(-lm -lpthread -ldl)

# What the sources include: config.h and xmlversion.h.
prepare() { ./configure --without-python --without-lzma --without-zlib --without-icu --without-iconv --without-readline; }

# Inputs are "RECORDS SEED".
training="40000 1" measured="300000 2" counted="6000 3" tuning="300000 4"
touched_mib=1280
if $quick; then
  training="2000 1" measured="4000 2" counted="1000 3" tuning="4000 4"
fi

# orders RECORDS SEED: a document of made-up orders, the same for the same arguments.
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
      print "<?xml version=\"1.0\"?>\n<orders>"
      for (i = 1; i <= records; i++) {
        printf "<order id=\"o%d\" amount=\"%d.%02d\"><customer>%d</customer><town>%s</town>\n", i, below(1000), below(100),
          below(5000), town[below(8) + 1]
        printf "<note>leave it at number %d, and ring %d times</note>", below(200), below(9)
        items = below(5) + 1
        for (j = 1; j <= items; j++)
          printf "<item count=\"%d\">%s</item>", below(9) + 1, good[below(10) + 1]
        print "</order>"
      }
      print "</orders>"
    }'
}

# workload INPUT COMMAND...
workload() {
  local records seed
  read -r records seed <<<"$1"
  make_input "orders-$records-$seed.xml" orders "$records" "$seed"
  "${@:2}" --xpath 'concat(sum(//order[@amount > 500]/item/@count), " ", count(//item[. = "lamp"]))' "$input"
}
