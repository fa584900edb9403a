# Print each hinted allocation call of textual LLVM IR with the chain of functions that it was inlined through:
#
#   hint   0 cold    malloc <- store_alloc memory.h:19 <- order_create order.c:8
#
# Several files are read one after the other; the numbers of metadata begin anew in each.

function class_of(hint) {
  if (hint < 64) return "cold"
  if (hint == 222) return "unclear"
  return hint >= 254 ? "hot" : "neither"
}

# The value of a field of a metadata node, "" if it has none.
function field(node, name,    text) {
  text = metadata[node]
  if (!match(text, "[(, ]" name ": ")) return ""
  text = substr(text, RSTART + RLENGTH)
  if (substr(text, 1, 1) == "\"") {
    text = substr(text, 2)
    return substr(text, 1, index(text, "\"") - 1)
  }
  match(text, /^[^,)]*/)
  return substr(text, 1, RLENGTH)
}

# The function that a scope lies in.
function subprogram_of(scope) {
  while (scope != "" && metadata[scope] !~ /DISubprogram\(/) scope = field(scope, "scope")
  return scope
}

function print_calls(    i, location, scope, chain, file, parts, n) {
  for (i = 1; i <= calls; i++) {
    chain = ""
    for (location = call_location[i]; location != ""; location = field(location, "inlinedAt")) {
      scope = subprogram_of(field(location, "scope"))
      n = split(field(field(scope, "file"), "filename"), parts, "/")
      file = n ? parts[n] : "?"
      chain = chain " <- " field(scope, "name") " " file ":" field(location, "line")
    }
    printf "hint %3s %-8s %s%s\n", call_hint[i], call_class[i], call_name[i], chain
  }
  calls = 0
  split("", metadata)
}

FNR == 1 { print_calls() }

/^ .*(call|invoke) .*@__hearth_[A-Za-z0-9_]*(_hot_cold|12__hot_cold_t)\(/ {
  calls++
  match($0, /@__hearth_[A-Za-z0-9_]*(_hot_cold|12__hot_cold_t)\(/)
  call_name[calls] = substr($0, RSTART + 1, RLENGTH - 2)
  gsub(/^__hearth_|(_hot_cold|12__hot_cold_t)$/, "", call_name[calls])
  arguments = substr($0, RSTART + RLENGTH)
  # The hint is the last argument; IR prints it as a signed byte.
  hint = ""
  while (match(arguments, /i8 ([a-z]+ )*-?[0-9]+\)/)) {
    hint = substr(arguments, RSTART, RLENGTH - 1)
    arguments = substr(arguments, RSTART + RLENGTH)
  }
  sub(/.* /, "", hint)
  if (hint == "") {
    call_hint[calls] = "?"
    call_class[calls] = "variable"
  } else {
    call_hint[calls] = hint < 0 ? hint + 256 : hint + 0
    call_class[calls] = class_of(call_hint[calls])
  }
  call_location[calls] = match($0, /!dbg ![0-9]+/) ? substr($0, RSTART + 5, RLENGTH - 5) : ""
}

/^![0-9]+ = / { metadata[$1] = $0 }

END { print_calls() }
