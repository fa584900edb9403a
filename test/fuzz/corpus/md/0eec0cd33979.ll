define void @f() {
  invoke i64 @malloc(i64 4) "memprof"="hot" to label %done unwind label %lost, !memprof.mib !8
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !7
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5, i64 9}
!2 = !{!10, !3, !4}
!3 = !{i64 7, !7, i32 3}
!4 = !{!8, !8, null, i32 3}
!7 = !{!3, null}
!8 = !{}
!10 = !{!"Stack", !"Stack", !"AllocCount"}
