define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !memprof.mib !2, !memprof !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !7
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!8, !4}
!1 = distinct !{!7}
!13 = !{!10, !7}
!12 = distinct !{!3, !4}
!2 = distinct !{!10, !3, !4}
!3 = !{!7, i64 7, !7}
!11 = distinct !{!8, null, !"AveSize"}
!4 = !{!8, !"MinLifetime", i32 3}
!14 = !{!14}
!7 = !{i64 9}
!8 = !{}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
