define void @f() {
  call i64 @malloc(i64 4) "memprof"="notcold", !callsite !8, !memprof.mib !2
  call i64 @malloc(i64 4), !memprof !13
  ret void
}
declare i64 @malloc(i64)
!memprof.schema = !{!10, !10, !10}
!1 = !{null}
!2 = distinct !{!10, !4, !3, !4}
!18 = !{i64 7}
!12 = !{!7, i64 7}
!14 = distinct !{null}
!16 = distinct !{!16, !13}
!13 = distinct !{!7, !4}
!3 = !{!"MinSize", i64 7}
!4 = distinct !{!8, i64 8}
!15 = !{!"Stack", !1, !10, !4}
!11 = !{!10, !1}
!5 = !{!10, null}
!7 = !{}
!8 = !{i64 10, i1 0}
!17 = !{!17, !"AllocCount", !"AllocCount"}
!10 = distinct !{!"Stack", !"DataTypeId"}
