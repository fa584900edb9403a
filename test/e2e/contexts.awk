# Of a module as text: calls with contexts, their contexts, calls of hinted functions.

# A call that has this kind of metadata uses a list of contexts, among `others` operands.
function uses(kind, others) {
  if (!match($0, kind " ![0-9]+"))
    return 0
  calls++
  node = substr($0, RSTART + length(kind) + 1, RLENGTH - length(kind) - 1)
  users[node]++
  operands_besides[node] = others
  return 1
}

# !memprof.mib begins with its schema; !memprof lists contexts of Hearth only on LLVM 14, where there is no other.
/^  / {
  uses("!memprof.mib", 1) || uses("!memprof", 0)
  hinted += /(call|invoke) .*@__hearth_[A-Za-z0-9_]*_hot_cold(_t)?\(/
}
/^!/ && ($1 in users) { contexts += users[$1] * (gsub(/,/, "") + 1 - operands_besides[$1]) }
END { print calls + 0, contexts + 0, hinted + 0 }
