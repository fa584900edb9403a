define void @f() {
  call i64 @malloc(i64 4) "memprof"="hot", !callsite !1, !memprof.mib !2, !memprof !11
  call i64 @malloc(i64 4), !memprof.mib !4
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{}
!1 = !{!4}
!12 = !{!12, !3, !4}
!2 = !{!10, !3, !4}
!3 = !{!7, i64 7}
!4 = distinct !{!5, !1}
!5 = !{!4, !10}
!7 = !{}
!8 = !{null}
!11 = !{!"Stack", !""}
!10 = !{!"Stack", !""}
