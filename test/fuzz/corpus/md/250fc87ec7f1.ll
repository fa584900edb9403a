define void @f() {
  call i64 @malloc(i64 4) "memprof"="tepid", !memprof.mib !2
  call i64 @malloc(i64 4), !callsite !1, !memprof.mib !14
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{}
!1 = !{null}
!14 = !{!10, !10, !3, !4}
!2 = !{null, !3, !4}
!15 = !{!7, !15}
!3 = !{!7, i64 7}
!12 = distinct !{!8, i32 567}
!4 = !{!8, i64 8}
!5 = !{!10, !4}
!7 = !{i64 3}
!8 = distinct !{!7, i64 10}
!13 = !{!13, !11}
!11 = !{!2, null, !11}
!10 = !{i1 345, !"AllocCount"}
