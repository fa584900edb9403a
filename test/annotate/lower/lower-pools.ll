; Calls of contexts with pools get the hints of these, 223 and the pool's number; LLVM's inliner and pruning part contexts
; of several pools as it does those of several classes.
; RUN: %opt -passes=hearth-lower -pass-remarks=hearth -S %s 2> %t | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes='cgscc(inline),verify,hearth-prune,hearth-verify,hearth-lower' -S %s | FileCheck %s --check-prefix=INLINED
; RUN: %opt -passes=hearth-lower -memprof-lto-phase=prelink -S %s | FileCheck %s --check-prefix=PRELINK
; REQUIRES: llvm19 || llvm22

; CHECK-LABEL: define void @settled(
; CHECK: @__hearth_malloc_hot_cold(i64 1, i8 zeroext -33)
; CHECK: @__hearth_malloc_hot_cold(i64 2, i8 zeroext -4)
; CHECK: @__hearth_malloc_hot_cold(i64 3, i8 zeroext 0)
; CHECK: @__hearth_malloc_hot_cold(i64 33, i8 zeroext -3)
; REMARK: malloc call given the hint 223 (id 1)
; REMARK: malloc call given the hint 252 (id 30)
; REMARK: malloc call given the hint 0 (cold)
; REMARK: malloc call given the hint 253 (dormant)
; PRELINK-LABEL: define void @settled(
; PRELINK: @__hearth_malloc_hot_cold(i64 1, i8 zeroext -33)
define void @settled() {
  %p = call ptr @malloc(i64 1) "memprof"="hot" "hearth-pool"="0"
  %q = call ptr @malloc(i64 2) "memprof"="notcold" "hearth-pool"="29"
  %r = call ptr @malloc(i64 3) "memprof"="cold" "hearth-pool"="1"
  %s = call ptr @malloc(i64 33) "memprof"="cold" "hearth-dormant"
  ret void
}

; Several pools that nothing tells apart are none.
; CHECK-LABEL: define internal ptr @several(
; CHECK: @__hearth_malloc_hot_cold(i64 4, i8 zeroext -128)
; REMARK: malloc call given the hint 128 (notcold, though its contexts differ: nothing tells them apart)
; INLINED-LABEL: define ptr @a(
; INLINED: @__hearth_malloc_hot_cold(i64 4, i8 zeroext -32)
; INLINED-LABEL: define ptr @b(
; INLINED: @__hearth_malloc_hot_cold(i64 4, i8 zeroext -31)
; Left to the link, without data that LLVM's summary would count.
; PRELINK-LABEL: define internal ptr @several(
; PRELINK: call ptr @malloc(i64 4) [[LEFT:#[0-9]+]], !memprof.mib !{{[0-9]+}}{{$}}
define internal ptr @several() {
  %p = call ptr @malloc(i64 4) "memprof"="hot" "hearth-pool"="ambiguous", !callsite !1, !memprof.mib !2
  ret ptr %p
}
define ptr @a() {
  %p = call ptr @several(), !callsite !10
  ret ptr %p
}
define ptr @b() {
  %p = call ptr @several(), !callsite !11
  ret ptr %p
}

; CHECK-LABEL: define internal ptr @mostly_cold(
; CHECK: @__hearth_malloc_hot_cold(i64 5, i8 zeroext -34)
; INLINED-LABEL: define ptr @c(
; INLINED: @__hearth_malloc_hot_cold(i64 5, i8 zeroext 0)
; INLINED-LABEL: define ptr @d(
; INLINED: @__hearth_malloc_hot_cold(i64 5, i8 zeroext -31)
define internal ptr @mostly_cold() {
  %p = call ptr @malloc(i64 5) "memprof"="ambiguous" "hearth-pool"="2", !callsite !1, !memprof !20, !memprof.mib !23
  ret ptr %p
}
define ptr @c() {
  %p = call ptr @mostly_cold(), !callsite !10
  ret ptr %p
}
define ptr @d() {
  %p = call ptr @mostly_cold(), !callsite !11
  ret ptr %p
}
declare ptr @malloc(i64)

; PRELINK-DAG: attributes [[LEFT]] = { "hearth-pool"="ambiguous" "memprof"="hot" }

!memprof.schema = !{!0}
!0 = !{!"Stack", !"TotalSize", !"Hotness", !"Pool"}
!1 = !{i64 1}
!2 = !{!0, !3, !4}
!3 = !{!5, i64 100, i32 3, i8 1}
!4 = !{!6, i64 101, i32 3, i8 2}
!5 = !{i64 10}
!6 = !{i64 11}
!10 = !{i64 10}
!11 = !{i64 11}
!20 = !{!21, !22}
!21 = !{!25, !"cold"}
!22 = !{!26, !"hot"}
!23 = !{!0, !24, !4}
!24 = !{!5, i64 1000, i32 1, null}
!25 = !{i64 1, i64 10}
!26 = !{i64 1, i64 11}
