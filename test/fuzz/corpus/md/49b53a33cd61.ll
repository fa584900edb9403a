define void @a() {
  call i64 @malloc(i64 4), !callsite !10, !memprof !2, !memprof.mib !12
  ret void
}
define void @b() {
  call i64 @malloc(i64 4), !callsite !11, !memprof !11
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!"Stack", !11}
!1 = !{i64 5}
!13 = distinct !{!3}
!2 = !{!3}
!3 = !{!7, null, i32 1}
!12 = !{i64 6, !12}
!4 = !{!3, i64 6, i64 9}
!5 = !{!6}
!6 = !{i64 64, i32 2, !7, i64 3}
!7 = !{i64 9}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
