define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !callsite !4
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !3
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10}
!1 = !{!4}
!2 = !{i128 4}
!3 = !{i64 7, i64 7, i32 3, i32 3, i32 3}
!4 = distinct !{!4, !4, null}
!7 = !{i64 9, null}
!8 = !{i64 7}
!10 = !{!"Stack", !"Hotness", null, !"Hotness"}
