define void @f() {
  invoke i64 @malloc(i64 4) to label %done unwind label %lost, !callsite !7
done:
  ret void
lost:
  landingpad i32 cleanup
  call void @f(), !callsite !3, !memprof.mib !2
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10}
!1 = !{!4, null}
!11 = !{i32 3}
!2 = !{!2}
!3 = distinct !{i64 7, i8 1, i64 7, i32 3, i32 3, i32 3}
!4 = distinct !{!4, !"DataTypeId", null}
!7 = distinct !{i64 9, null}
!8 = distinct !{}
!10 = distinct !{!"Stack", !"AllocCount", !"Hotness", !"Hotness"}
