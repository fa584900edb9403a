define void @a() {
  call i64 @malloc(i64 4), !callsite !1, !memprof.mib !2
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="tepid", !callsite !3, !memprof.mib !2
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!12 = !{!14}
!1 = distinct !{null}
!2 = !{null, !3, !3}
!3 = !{!7, i64 7, i32 1}
!14 = !{!14, i64 6}
!13 = !{i64 4, !13}
!4 = !{i64 6, null}
!5 = !{!11, !11, i64 9}
!6 = distinct !{!7, i32 2, i64 64, i64 3}
!7 = distinct !{i64 9}
!10 = distinct !{!"Stack", !"Hotness", !"AllocCount"}
!11 = !{!"Stack", !"AveSize", !"MinSize"}
