define void @f() {
  call i64 @_Znwm(i64 4), !memprof !10, !callsite !14
  call i64 @_Znwm(i64 8) "memprof"="tepid"
  ret void
}
declare i64 @_Znwm(i64)
!20 = !{!20, i64 345}
!17 = !{!17, i64 4}
!8 = !{i64 2, i64 345}
!9 = !{i64 567}
!19 = !{!11, !13}
!10 = distinct !{!11, !11, !13}
!11 = !{!12, !"cold", !15, !16}
!12 = distinct !{i64 567, i64 456, i64 234}
!13 = !{!14, !"notcold", !15}
!14 = distinct !{i64 567, i64 0}
!18 = !{i64 4294967295, i64 400}
!15 = !{i64 123, i64 18446744073709551615}
!16 = !{i64 234, i64 8}
