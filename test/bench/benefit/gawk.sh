# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gawk with tables of 2.5 million keys: numbers and, for one in five, strings. Ten million take 2.9 GB.
# shellcheck shell=bash disable=SC2034,SC2154

package=gawk
sources=({array,awkgram,builtin,cint_array,command,debug,eval,ext,field,floatcomp,gawkapi,gawkmisc,int_array,io,main}.c
  {mpfr,msg,node,profile,re,replace,str_array,symbol,version}.c support/{dfa,getopt,getopt1,localeinfo,random,regex}.c)
compile_flags=(-w "-I$tree" "-I$tree/support" -DHAVE_CONFIG_H -DGAWK -DLOCALEDIR='"/usr/share/locale"'
  -DDEFPATH='"."' -DDEFLIBPATH='"."' -DSHLIBEXT='"so"')
link_flags=(-lm -ldl -rdynamic)

prepare() { ./configure --disable-mpfr --without-readline --disable-nls --disable-pma; }

# Inputs are "KEYS SEED".
training="300000 1" measured="2500000 2" counted="40000 3" tuning="2500000 4"
touched_mib=1024
if $quick; then
  training="50000 1" measured="100000 2" tuning="100000 4"
fi

# workload INPUT COMMAND...
workload() {
  local keys seed
  read -r keys seed <<<"$1"
  # shellcheck disable=SC2016  # variables of awk
  "${@:2}" -v keys="$keys" -v seed="$seed" '
    function below(limit) {
      state = (state * 16807) % 2147483647
      return state % limit
    }
    BEGIN {
      state = seed * 7919 + 1
      for (i = 1; i <= keys; i++)
        if (i % 5 == 0)
          name["customer " below(keys)] = i
        else
          number[i] = below(1000)
      for (i = 1; i <= keys / 2; i++) {
        key = "customer " below(keys)
        if (key in name)
          found += number[name[key] - 1]
        else
          sum += number[below(keys)]
        if (i % 4 == 0)
          delete name[key]
      }
      print found, sum, length(name), length(number)
    }'
}
