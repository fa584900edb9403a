define void @f() {
  call i64 @_Znwm(i64 4) "memprof"="ambiguous", !memprof !10, !callsite !9, !memprof.mib !15
  call i64 @_Znwm(i64 8) "memprof"="cold"
  ret void
}
declare i64 @_Znwm(i64)
!8 = !{!11, null}
!9 = distinct !{i64 567}
!10 = !{!11, !13}
!11 = !{!12, !"cold", !15, !16}
!12 = !{i64 567, i64 456, i64 234}
!13 = !{!14, !"notcold"}
!14 = !{i64 567, i64 345}
!15 = distinct !{i64 400}
!16 = !{i64 -1, i64 8}
