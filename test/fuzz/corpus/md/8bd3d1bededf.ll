define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !memprof.mib !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f()
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!12 = !{!12}
!1 = distinct !{i64 9}
!2 = !{!10, !3, !4}
!3 = !{!7, i64 9, i8 0, i32 3, i32 3}
!4 = !{!3, !8, null, i32 3}
!11 = !{!11, !11}
!7 = !{i64 9}
!8 = !{i64 9}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
