define void @f() {
  call i64 @malloc(i64 4) "memprof"="tepid", !memprof.mib !4, !memprof !1
  call i64 @malloc(i64 4), !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{}
!1 = !{}
!2 = distinct !{!10, !3, !4}
!12 = !{!7, i64 7}
!13 = !{!7, i64 7}
!3 = !{i64 2, null}
!4 = !{!8, !10}
!11 = !{!10, !4}
!14 = !{!10, !4}
!5 = !{!10, !4}
!7 = !{i64 9}
!8 = !{i64 10, !7}
!10 = !{!"Stack"}
