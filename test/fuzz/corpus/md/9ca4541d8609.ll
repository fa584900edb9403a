define void @f() {
  call i64 @malloc(i64 4) "memprof"="ambiguous", !callsite !1, !memprof.mib !2
  call i64 @malloc(i64 4), !callsite !1
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10}
!1 = !{i32 4}
!2 = distinct !{!10, !3, !4, !4}
!12 = !{!7, null}
!14 = !{!"Stack", !13}
!13 = !{!7, !13}
!3 = !{!7, i64 7}
!4 = distinct !{!8, i64 8}
!11 = !{!10, !4}
!5 = !{!10, !4}
!7 = !{i64 9}
!8 = !{i64 10, !7}
!10 = !{!"Stack", !"AllocCount"}
