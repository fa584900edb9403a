define void @a() {
  call i64 @malloc(i64 4), !memprof.mib !2
  ret void
}
define void @b() {
  call i64 @malloc(i64 4), !callsite !4, !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!1 = !{i64 5}
!2 = !{!6}
!3 = distinct !{!7, null, null}
!4 = !{i64 6, i64 9}
!5 = !{!11, !11, !6}
!6 = !{!7, null, i64 64, i64 3}
!7 = !{}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
