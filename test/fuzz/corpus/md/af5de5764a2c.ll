define void @f() {
  call i64 @_Znwm(i64 4), !memprof !10, !memprof.mib !11
  call i64 @_Znwm(i64 8) "memprof"="cold", !callsite !12
  ret void
}
declare i64 @_Znwm(i64)
!8 = !{i64 568, i64 345}
!9 = !{null}
!10 = !{!13, !11}
!11 = !{!12, !"cold", !15, !16}
!12 = distinct !{i64 567, i64 456, i64 234}
!13 = !{null, !"notcold", !15}
!14 = distinct !{i64 567, i64 345}
!15 = !{null, i64 400}
!16 = !{i64 -1, null}
