define void @a() {
  call i64 @malloc(i64 4), !callsite !10
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="ambiguous", !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!1 = !{}
!2 = !{!6, !3}
!3 = distinct !{!7, i64 7, i64 9}
!4 = !{i64 6, i64 9}
!5 = distinct !{null, !6}
!6 = !{!7, i32 2, i64 64, i64 3}
!7 = distinct !{}
!10 = !{!"Stack", !"AllocCount"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize", !"MinSize"}
