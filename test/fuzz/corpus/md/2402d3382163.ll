define void @f() {
  call i64 @_Znwm(i64 4)
  call i64 @_Znwm(i64 8), !callsite !15, !memprof !10
  ret void
}
declare i64 @_Znwm(i64)
!8 = !{i64 568, i64 345}
!19 = !{!8}
!9 = !{!8, !8}
!10 = !{!11, !13}
!11 = !{!12, !"cold", !15, !16}
!12 = !{i64 567, !"notcold", i64 234}
!13 = !{!14, !"notcold", !15}
!18 = !{i64 567, !10, !18}
!14 = distinct !{!13, !10, i64 345}
!20 = distinct !{null, !20}
!15 = !{i64 123, !12}
!17 = !{i64 8}
!16 = !{null}
