; Histogram mode: one counter of 8 bits for each 8 bytes, which stays at 255. Accesses are added at once only if they are
; certainly to the same 8 bytes.
; RUN: %opt -memprof-histogram -passes=hearth-instrument -S %s | FileCheck %s
; RUN: %opt -memprof-histogram -memprof-atomic -passes=hearth-instrument -S %s | FileCheck %s --check-prefix=ATOMIC

; CHECK: @__memprof_histogram = weak constant i8 1

; CHECK-LABEL: define void @neighbours
; CHECK: %[[A:.*]] = lshr i64 %{{.*}}, 3
; CHECK: %[[COUNTER:.*]] = getelementptr i8, ptr %hearth.counters, i64 %[[A]]
; CHECK: %[[OLD:.*]] = load i8, ptr %[[COUNTER]]
; CHECK: %[[NEW:.*]] = call i8 @llvm.uadd.sat.i8(i8 %[[OLD]], i8 2)
; CHECK: store i8 %[[NEW]], ptr %[[COUNTER]]
; CHECK: call i8 @llvm.uadd.sat.i8(i8 %{{.*}}, i8 1)
; CHECK-NOT: @llvm.uadd.sat
; CHECK: ret void
; ATOMIC-LABEL: define void @neighbours
; ATOMIC: call void @__hearth_count_atomic(i64 %{{.*}}, i64 2)
define void @neighbours(ptr %p) {
  %half = getelementptr i8, ptr %p, i64 4
  %next = getelementptr i8, ptr %p, i64 8
  store i32 1, ptr %p, align 8
  store i32 2, ptr %half, align 4
  store i32 3, ptr %next, align 8
  ret void
}

; CHECK: call void @__hearth_granule(i32 8)
