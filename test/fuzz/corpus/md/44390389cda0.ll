define void @f() {
  call i64 @malloc(i64 4) "memprof"="cold", !callsite !1, !memprof.mib !15
  call i64 @malloc(i64 4), !memprof.mib !2
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10}
!1 = !{}
!2 = distinct !{!10, !3, !4, !4}
!12 = !{!7, i64 7}
!14 = distinct !{null, null}
!13 = !{!7, !13}
!3 = !{!7, i64 7}
!4 = distinct !{!7, i64 8}
!15 = !{!"Stack", !10, !8}
!11 = !{!10, !4}
!5 = !{!10, null}
!7 = !{i64 9}
!8 = !{i64 10, i1 0, i64 0}
!10 = !{!"Stack", !"MinLifetime"}
