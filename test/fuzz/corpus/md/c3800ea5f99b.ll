define void @f() {
  call i64 @_Znwm(i64 4), !memprof !10, !callsite !9
  call i64 @_Znwm(i64 8) "memprof"="hot", !callsite !10
  ret void
}
declare i64 @_Znwm(i64)
!8 = !{i64 568, !9}
!9 = distinct !{!8}
!10 = !{!13}
!11 = !{!12, !"cold", !15, !16}
!12 = !{i64 456, !9}
!13 = distinct !{!14, !"notcold", !15}
!17 = !{i64 345}
!14 = !{i64 345}
!15 = distinct !{i64 123, i64 400}
!16 = !{i64 2}
