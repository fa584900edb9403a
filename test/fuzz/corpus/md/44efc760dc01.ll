define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !callsite !1, !memprof !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f() "memprof"="cold", !callsite !7
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{i64 5, i64 5, !7}
!2 = !{!3, !4}
!3 = !{!7, i64 7, i32 3}
!4 = distinct !{!8, null, null}
!7 = !{i64 9}
!8 = !{null}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
