define void @f() {
  invoke i64 @malloc(i64 4) "memprof"="hot" to label %done unwind label %lost, !memprof.mib !2
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f() "memprof"="cold"
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10}
!1 = !{i64 5, i64 9}
!2 = !{!10, !4}
!3 = !{!7, i64 7, null}
!11 = !{!11, null, i32 3}
!4 = !{!8, null, i32 3}
!7 = !{!3}
!8 = !{}
!10 = !{!"Stack", !"AllocCount", !"Hotness"}
