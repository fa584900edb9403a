define i64 @f(i64 %x) {
  call i64 @malloc(i64 4) "memprof"="cold", !memprof !4, !callsite !1
  call i64 @malloc(i64 4), !callsite !7
  %y = add i64 %x, 1, !callsite !1
  ret i64 %y
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !7}
!1 = !{i64 5, null}
!2 = !{!10, !3, !6}
!3 = !{!7, i64 7, i32 1}
!4 = distinct !{!4, !5, null}
!5 = !{!7, !"tepid"}
!6 = !{!8, i32 7, i64 1}
!7 = distinct !{i64 9, !7}
!8 = !{i64 9}
!10 = !{!"Stack", !"AllocCount", !"Hotness", !"Colour"}
