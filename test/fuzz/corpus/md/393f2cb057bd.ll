define void @f() {
  call i64 @malloc(i64 4), !callsite !10, !memprof.mib !2, !memprof !1
  call i64 @malloc(i64 4) "memprof"="notcold", !callsite !1, !memprof.mib !8
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!11, !10}
!1 = !{}
!2 = !{!10, !3, !4}
!3 = !{!7, i64 7}
!4 = distinct !{null, i64 8}
!12 = !{!4}
!5 = !{!4}
!7 = !{i64 0}
!8 = distinct !{i64 10, !7}
!11 = !{!"Stack", !11}
!10 = !{!"Stack", !"AllocCount"}
