define void @bar() {
  call i64 @malloc(i64 4) "memprof"="ambiguous", !callsite !9, !memprof !20
  ret void
}
define void @baz() {
  call void @bar(), !callsite !1
  call void @bar(), !callsite !2
  ret void
}
define void @foo() {
  call void @baz(), !callsite !3
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!30}
!1 = !{i64 345}
!2 = !{i64 456}
!3 = !{i64 234}
!9 = !{i64 567}
!15 = !{i64 456, !18}
!17 = !{i64 345, !18}
!18 = !{i64 234, !19}
!19 = !{i64 123}
!20 = !{!21, !22}
!21 = !{!15, i64 2, i64 4, i32 1}
!22 = !{!17, i64 1, i64 4, i32 2}
!30 = !{!"Stack", !"AllocCount", !"AveSize", !"Hotness"}
