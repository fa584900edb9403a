define void @f() {
  call i64 @malloc(i64 4) "memprof"="hot", !memprof.mib !2
  call i64 @malloc(i64 4), !callsite !1, !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5}
!12 = !{!10, !3, !4}
!11 = distinct !{!10, !3, !4}
!2 = !{!10, !3, !4}
!3 = !{!7, i64 7}
!4 = !{!8, i64 8}
!5 = !{!10, !4}
!7 = distinct !{i64 8}
!8 = !{i64 10, !7}
!10 = !{!"Stack", !"AllocCount"}
