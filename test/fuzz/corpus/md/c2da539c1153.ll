define void @a() {
  call i64 @malloc(i64 4) "memprof"="hot", !callsite !1
  ret void
}
define void @b() {
  call i64 @malloc(i64 4), !memprof.mib !5, !memprof !6
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!1 = distinct !{i64 5}
!2 = !{null, i64 3}
!3 = !{!7, i64 7, i32 1}
!4 = !{null, null, i64 9}
!5 = !{null, !6}
!6 = !{!7, null, i64 64, i64 3}
!7 = !{i64 9}
!10 = !{!"AllocCount", !"Hotness", !"Hotness"}
!11 = !{!"Stack", !"MinSize"}
