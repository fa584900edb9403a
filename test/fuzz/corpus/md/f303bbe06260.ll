define void @a() {
  call i64 @malloc(i64 4), !callsite !5, !memprof !2, !memprof.mib !4
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="notcold", !callsite !4, !memprof !5, !memprof.mib !4
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10, !11}
!1 = distinct !{i64 5}
!2 = !{!3, !3}
!12 = !{!7, !12, i32 1}
!3 = !{!7, i64 7, i32 1, i32 1}
!4 = !{i64 6, i64 9}
!5 = distinct !{!"Stack"}
!6 = !{!7, i32 2, i64 3, i64 3}
!7 = !{i16 9}
!10 = distinct !{null, !"AllocCount", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
