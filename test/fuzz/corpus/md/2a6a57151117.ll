define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !memprof !2, !callsite !7
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f() "memprof"="ambiguous", !callsite !3
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!2}
!1 = !{i64 5, !7}
!2 = !{!4}
!3 = !{!7, i64 7, i32 3}
!4 = !{!8, null, i32 3}
!7 = !{i64 9}
!11 = !{}
!8 = !{}
!10 = !{!"AllocCount", !"Hotness"}
