# The ids of plans, in names and in constructors that check them.
s/\(__hearth_[a-z_]*\)\.[0-9a-f]*/\1/g
s/i64 -*[0-9]\{12,\}/i64 plan/
s/\(i64 %[0-9]*\), -*[0-9]\{12,\}/\1, plan/
