define void @a() {
  call i64 @malloc(i64 4) "memprof"="ambiguous", !memprof.mib !2
  ret void
}
define void @b() {
  call i64 @malloc(i64 4) "memprof"="notcold", !memprof.mib !5
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !11}
!1 = !{}
!2 = !{!10, !3}
!3 = !{i64 7, !7, null}
!4 = !{i64 6, i64 6, i64 9}
!5 = !{!11, !6}
!6 = !{!7, i64 64, i64 3}
!7 = !{}
!10 = !{!"Stack", !"MinSize", !"Hotness"}
!11 = !{!"Stack", !"Hotness", !"AveSize", !"MinSize"}
