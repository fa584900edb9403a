define void @a() {
  call i64 @malloc(i64 4) "memprof"="cold", !callsite !1
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="notcold", !callsite !1, !memprof !1
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!13 = distinct !{i64 5}
!1 = !{}
!2 = !{!3}
!3 = !{!7, i64 7, i32 1}
!12 = !{i64 6, !12}
!4 = !{i64 6, i64 9}
!5 = !{!6}
!14 = !{i64 6, i32 2, !7, i64 3}
!6 = !{i64 6, i32 2, !7, i64 3}
!7 = !{i64 9}
!10 = distinct !{!"Stack", !"AllocCount", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
