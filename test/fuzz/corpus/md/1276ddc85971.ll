define void @f() {
  call i64 @malloc(i64 4) "memprof"="ambiguous", !memprof.mib !2, !memprof !2
  call i64 @malloc(i64 4), !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5}
!2 = !{!10, !3, !4}
!3 = distinct !{!7, i64 7}
!4 = !{!8, i64 8}
!5 = !{!10, !4}
!7 = distinct !{i64 9}
!8 = !{i64 7, !7}
!10 = !{!"Stack", !"AllocCount"}
