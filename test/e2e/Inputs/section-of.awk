# Is the symbol `name` in the section `want`? Reads what 'readelf -SW' and 'readelf -sW' print.
FNR == NR { sub(/\[ */, "["); if ($1 ~ /^\[[0-9]+\]$/) section[substr($1, 2, length($1) - 2)] = $2; next }
$8 == name { found = section[$7] }
END { if (found != want) { print name " is in '" found "', not in " want; exit 1 } }
