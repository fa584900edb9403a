; Each load, store and atomic counts one in the shadow of the granule it begins in; memory intrinsics become calls that
; count their ranges; what can be no heap block is left alone.
; RUN: %opt -memprof-coalesce=off -passes=hearth-instrument -S %s | FileCheck %s
; RUN: %opt -memprof-coalesce=off -passes=hearth-instrument -S %s | %opt_plain -passes=verify -disable-output
; Twice is once.
; RUN: %opt -memprof-coalesce=off -passes=hearth-instrument,hearth-instrument -S %s | FileCheck %s

; CHECK: @__hearth_counters = external global i64
; CHECK: @llvm.global_ctors = appending global {{.*}} { i32 1, ptr @memprof.module_ctor, ptr null }

@table = global [9 x i32] zeroinitializer
@local = thread_local global i32 0

; CHECK-LABEL: define i32 @loads_and_stores(
; CHECK-NEXT: [[BASE:%.*]] = load i64, ptr @__hearth_counters
; CHECK-NEXT: [[COUNTERS:%.*]] = inttoptr i64 [[BASE]] to ptr
; CHECK-NEXT: [[ADDRESS:%.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT: [[GRANULE:%.*]] = lshr i64 [[ADDRESS]], 4
; CHECK-NEXT: [[COUNTER:%.*]] = getelementptr i32, ptr [[COUNTERS]], i64 [[GRANULE]]
; CHECK-NEXT: [[COUNT:%.*]] = load i32, ptr [[COUNTER]]
; CHECK-NEXT: [[MORE:%.*]] = add i32 [[COUNT]], 1
; CHECK-NEXT: store i32 [[MORE]], ptr [[COUNTER]]
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK: ptrtoint ptr %q
; CHECK: getelementptr i32
; CHECK: store i32
; CHECK: store i32 %v, ptr %q
; CHECK-NEXT: ret
define i32 @loads_and_stores(ptr %p, ptr %q) {
  %v = load i32, ptr %p
  store i32 %v, ptr %q
  ret i32 %v
}

; CHECK-LABEL: define void @atomics(
; CHECK: ptrtoint ptr %p
; CHECK: atomicrmw
; CHECK: ptrtoint ptr %p
; CHECK: cmpxchg
define void @atomics(ptr %p) {
  %a = atomicrmw add ptr %p, i64 1 seq_cst
  %b = cmpxchg ptr %p, i64 1, i64 2 seq_cst seq_cst
  ret void
}

; CHECK-LABEL: define void @intrinsics(
; CHECK-NEXT: call ptr @__memprof_memcpy(ptr %p, ptr %q, i64 %n)
; CHECK-NEXT: call ptr @__memprof_memmove(ptr %p, ptr %q, i64 %n)
; CHECK-NEXT: [[BYTE:%.*]] = zext i8 %c to i32
; CHECK-NEXT: call ptr @__memprof_memset(ptr %p, i32 [[BYTE]], i64 %n)
; CHECK-NEXT: call void @llvm.memcpy.inline
; CHECK-NEXT: ret
define void @intrinsics(ptr %p, ptr %q, i64 %n, i8 %c) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %p, i8 %c, i64 %n, i1 false)
  call void @llvm.memcpy.inline.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)
  ret void
}

; What isalpha reads; the table of another function may be anywhere.
; CHECK-LABEL: define i16 @class_of(
; CHECK-NOT: ptrtoint
; CHECK: %class = load
; CHECK: ptrtoint ptr %other to i64
; CHECK-NOT: ptrtoint
; CHECK: ret
define i16 @class_of(i64 %character) {
  %place = call ptr @__ctype_b_loc()
  %classes = load ptr, ptr %place
  %entry = getelementptr i16, ptr %classes, i64 %character
  %class = load i16, ptr %entry
  %other = call ptr @table_of_classes()
  %others = load i16, ptr %other
  ret i16 %class
}

; CHECK-LABEL: define i32 @not_heap(
; CHECK-NOT: ptrtoint
; CHECK: ret
define i32 @not_heap(ptr addrspace(1) %device, ptr byval(i32) %copy, i1 %c) {
  %slot = alloca [4 x i32]
  %element = getelementptr [4 x i32], ptr %slot, i64 0, i64 2
  store i32 1, ptr %element
  store i32 1, ptr addrspace(1) %device
  %either = select i1 %c, ptr %element, ptr @table
  store i32 2, ptr %either
  store i32 3, ptr getelementptr ([9 x i32], ptr @table, i64 0, i64 3)
  store i32 4, ptr %copy
  call void @llvm.memset.p0.i64(ptr %slot, i8 0, i64 400, i1 false)
  %v = load i32, ptr %element
  ret i32 %v
}

; The loader may take thread-local variables' memory from malloc.
; CHECK-LABEL: define i32 @maybe_heap(
; CHECK: ptrtoint ptr %either
; CHECK: ptrtoint (ptr @local
; CHECK: ret
define i32 @maybe_heap(ptr %p, i1 %c) {
  %either = select i1 %c, ptr %p, ptr @table
  %v = load i32, ptr %either
  %w = load i32, ptr @local
  ret i32 %v
}

; CHECK-LABEL: define available_externally i32 @elsewhere(
; CHECK-NEXT: load i32, ptr %p
define available_externally i32 @elsewhere(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK: define internal void @memprof.module_ctor()
; CHECK-NEXT: call void @__hearth_exact_init()
; CHECK-NEXT: call void @__memprof_version_mismatch_check_v1()
; CHECK-NEXT: call void @__hearth_granule(i32 16)
; CHECK-NEXT: ret void
; CHECK-NOT: memprof.module_ctor

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64 immarg, i1 immarg)
declare ptr @__ctype_b_loc()
declare ptr @table_of_classes()
