define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !callsite !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !12, !memprof.mib !2
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!12}
!1 = distinct !{i64 9}
!13 = !{!3, !10, !4}
!12 = distinct !{!3, !4}
!2 = distinct !{!10, !11, !11, !3, !4}
!3 = distinct !{!7, i64 7, !7}
!11 = distinct !{!8, null, !11}
!4 = distinct !{!8, !"MinLifetime", i32 3}
!14 = !{}
!7 = !{i64 9}
!8 = distinct !{}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
