define void @f() {
  call i64 @_Znwm(i64 4) "memprof"="cold", !memprof !10
  call i64 @_Znwm(i64 8) "memprof"="cold", !callsite !8
  ret void
}
declare i64 @_Znwm(i64)
!17 = !{null, i64 345}
!8 = !{!14, i64 345}
!9 = !{i64 567}
!10 = !{!11, i64 345}
!11 = !{!12, !"cold", !15, !16}
!12 = !{i64 567, i64 456, i64 234}
!13 = !{!"notcold", !"MinSize", !15}
!14 = !{i64 567, i1 345}
!15 = !{i64 123, i64 400}
!16 = !{i64 -1, null}
