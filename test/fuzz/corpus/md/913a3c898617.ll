define void @f() {
  call i64 @_Znwm(i64 4), !memprof !0, !callsite !2
  ret void
}
declare i64 @_Znwm(i64)
!0 = !{!1}
!1 = !{!2, !"notcold"}
!2 = !{i64 345}
