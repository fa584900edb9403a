define void @f() {
  invoke i64 @malloc(i64 4) "memprof"="hot" to label %done unwind label %lost, !memprof.mib !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !3
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5, i64 9}
!2 = distinct !{!10, !3, !3, !3, !4}
!3 = distinct !{!7, i64 9, i64 7, i32 3}
!4 = !{!3, i8 9223372036854775807, null, i32 3}
!7 = !{null}
!8 = !{!10}
!10 = !{!"Stack", !"Hotness", !"AllocCPU"}
