define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !callsite !1, !memprof.mib !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f()
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5, i64 9}
!2 = !{!10, !3, !4, !4}
!3 = !{!7, i64 2, i32 3}
!4 = !{!8, i1 4, i32 3}
!7 = !{i64 9, i64 9}
!8 = !{}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
