define void @f() {
  call i64 @_Znwm(i64 4) "memprof"="cold", !memprof !10, !callsite !15
  call i64 @_Znwm(i64 8)
  ret void
}
declare i64 @_Znwm(i64)
!8 = distinct !{i64 568, i64 0}
!9 = distinct !{!9}
!10 = !{!11, !13}
!11 = !{!12, !"cold", !15, !16}
!12 = distinct !{i64 567, null, i64 234}
!13 = !{!14, !"notcold", !15}
!14 = distinct !{i64 567, i64 0}
!15 = !{i64 123, i64 400}
!16 = !{i64 8}
