define void @f() {
  call i64 @malloc(i64 4) "memprof"="hot", !callsite !1, !memprof.mib !2
  call i64 @malloc(i64 4), !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{}
!2 = distinct !{!10, !3, !4, !4}
!12 = !{!7, i64 7}
!13 = !{!7}
!3 = !{!7, i64 7}
!4 = !{!8, i64 8}
!11 = !{!10, !4}
!5 = distinct !{!10, !4}
!7 = !{i64 9}
!8 = !{i64 10, !7}
!10 = !{!"tepid", !"Stack", !"AllocCount"}
