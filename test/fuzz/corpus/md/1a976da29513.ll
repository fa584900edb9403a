define void @bar() {
  call i64 @malloc(i64 4) "memprof"="hot", !memprof !31, !callsite !10
  ret void
}
define void @baz() {
  call void @bar() "memprof"="notcold", !memprof.mib !20
  call void @bar() "memprof"="cold", !memprof !1, !memprof.mib !3
  ret void
}
define void @foo() {
  call void @baz() "memprof"="ambiguous", !callsite !10, !memprof !21, !memprof.mib !10
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!30}
!35 = !{null}
!1 = !{null}
!2 = !{i64 456}
!3 = !{i64 234}
!9 = !{null, i64 567}
!10 = !{!11, !13}
!11 = !{i64 567, !"cold"}
!38 = !{i64 567, i64 456, i64 234, i64 123}
!12 = !{i64 567, i64 456, i64 234, i64 123}
!13 = !{!14, !"notcold"}
!34 = distinct !{i64 567, i64 345, i16 234, i64 456}
!14 = distinct !{i64 567, i64 345, i16 234, i64 456}
!15 = !{i64 456, !18}
!17 = !{i64 345, !18}
!36 = distinct !{i8 234, !19}
!31 = distinct !{!19, i8 234}
!33 = !{!33, !19}
!18 = !{i64 234, !19}
!19 = !{i64 123}
!20 = !{!30, !21, !22}
!32 = distinct !{i64 234, !15, i64 2, !32, i32 1}
!21 = distinct !{!15, i64 2, i64 4, i64 456}
!22 = !{!17, i8 3, i64 4, i32 2}
!37 = !{!"Stack", !"AveSize", !"AveSize", !"Hotness"}
!30 = !{!"Stack", !"AveSize", !"AveSize", !"Hotness"}
