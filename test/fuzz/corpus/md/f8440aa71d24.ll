define void @a() {
  call i64 @malloc(i64 4), !callsite !1, !memprof.mib !2
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="notcold", !callsite !4, !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!1 = distinct !{}
!2 = !{!6, !3}
!3 = !{!7, i64 7, i32 1}
!4 = !{i64 9, i64 6}
!5 = !{!11, !6}
!6 = !{!7, i32 2, i64 64, i64 3}
!7 = !{i64 9}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
