define i64 @f(i64 %x) {
  call i64 @malloc(i64 4) "memprof"="tepid", !memprof !2, !callsite !1
  call i64 @malloc(i64 4)
  %y = add i64 %x, 1, !callsite !1
  ret i64 %y
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !7, !7, !7}
!1 = !{i64 5}
!2 = distinct !{!10, !3, i64 5, !6}
!3 = !{!7, !7, null}
!4 = distinct !{i64 5, null, !5}
!5 = !{i1 1, !7}
!6 = !{!8, i32 7, !7}
!7 = !{i64 9, !7}
!8 = !{i128 9}
!10 = !{!"Stack", !"Hotness", !"Colour"}
