define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !memprof.mib !2, !memprof !4
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !7, !memprof.mib !2
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = distinct !{i64 9, i64 5, i64 5}
!2 = !{!10, !2, !3, null}
!3 = !{i64 7, !7, i32 3}
!4 = !{!8, !8, null, i32 3}
!7 = !{!3, !3}
!8 = !{}
!10 = !{!"Stack", !"AllocCount", !"AllocCount"}
