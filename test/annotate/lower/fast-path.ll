; Frequent calls take a freed block of the main pool in place; where there is none, the allocator goes on from there. Sizes that are
; constants leave no test of the size; cold blocks and those of other pools need the call.
; RUN: %opt -passes=hearth-lower -pass-remarks=hearth -S %s 2> %t | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes=hearth-lower -S %s | %clang -x ir -O0 -S -o - - | FileCheck %s --check-prefix=ASM
; REQUIRES: llvm22

; CHECK-DAG: @__hearth_empty_pool = linkonce_odr hidden constant [161 x i64] zeroinitializer, comdat
; CHECK-DAG: @hearth_fast_pools_3 = weak thread_local(localexec) global [2 x ptr] [ptr @__hearth_empty_pool, ptr @__hearth_empty_pool]

; CHECK-LABEL: define ptr @of_constant_size(
; CHECK: %[[POOL:.*]] = load ptr, ptr @hearth_fast_pools_3
; CHECK: %[[BLOCK:.*]] = sub i64
; CHECK-NEXT: icmp {{(ne|eq)}} i64
; CHECK: store i8 3, ptr
; CHECK: %[[KEY:.*]] = getelementptr i8, ptr %[[POOL]], i64 1280
; CHECK-NEXT: %[[VALUE:.*]] = load i64, ptr %[[KEY]]
; CHECK-NEXT: icmp ne i64 %[[VALUE]], 0
; CHECK-DAG: call ptr @hearth_fast_malloc_3(ptr %[[POOL]], i64 3)
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext -2)
; CHECK: phi ptr
; REMARK: the allocator's fast path is in place of the call
; ASM-LABEL: of_constant_size:
; ASM: hearth_fast_pools_3@TPOFF
define ptr @of_constant_size() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; No plan says that this pool is the main one.
; CHECK-LABEL: define ptr @of_a_pool(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext -31)
define ptr @of_a_pool() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-pool"="2" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @of_any_size(
; CHECK: icmp ule i64 %n, 1024
; CHECK-DAG: call ptr @hearth_fast_malloc_3(ptr
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 %n, i8 zeroext -128)
define ptr @of_any_size(i64 %n) {
  %p = call ptr @malloc(i64 %n) "memprof"="notcold" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @zeroed(
; CHECK: call void @llvm.memset
; CHECK-NOT: call ptr @hearth_fast_malloc_3
; CHECK-DAG: call ptr @__hearth_calloc_hot_cold(i64 2, i64 24, i8 zeroext -128)
define ptr @zeroed() {
  %p = call ptr @calloc(i64 2, i64 24) "memprof"="notcold" "hearth-frequent"
  ret ptr %p
}

; An exception of the call goes where it went.
; CHECK-LABEL: define ptr @made(
; CHECK: load ptr, ptr getelementptr{{.*}} @hearth_fast_pools_3, i64 8)
; CHECK: invoke ptr @hearth_fast_new_3(ptr {{.*}}, i64 3)
; CHECK-NEXT: to label %{{.*}} unwind label %failed
; CHECK: invoke ptr @__hearth__Znwm12__hot_cold_t(i64 40, i8 zeroext -128)
; CHECK-NEXT: to label %{{.*}} unwind label %failed
define ptr @made() personality ptr @__gxx_personality_v0 {
  %p = invoke ptr @_Znwm(i64 40) builtin "memprof"="notcold" "hearth-frequent" to label %made unwind label %failed
made:
  ret ptr %p
failed:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; CHECK-LABEL: define ptr @cold(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext 0)
define ptr @cold() {
  %p = call ptr @malloc(i64 40) "memprof"="cold" "hearth-frequent"
  ret ptr %p
}

; A block that is there is resized by a call.
; CHECK-LABEL: define ptr @resized(
; CHECK: icmp {{eq|ne}} ptr %old, null
; CHECK: store i8 3, ptr
; CHECK-DAG: call ptr @hearth_fast_malloc_3(ptr {{.*}}, i64 3)
; CHECK-DAG: call ptr @__hearth_realloc_hot_cold(ptr %old, i64 40, i8 zeroext -2)
define ptr @resized(ptr %old) {
  %p = call ptr @realloc(ptr %old, i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; Its blocks begin at pages.
; CHECK-LABEL: define ptr @aligned(
; CHECK-NEXT: call ptr @__hearth_valloc_hot_cold(
define ptr @aligned() {
  %p = call ptr @valloc(i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; Without a block this calls the function that throws nothing.
; CHECK-LABEL: define ptr @nothrow(
; CHECK: store i8 3, ptr
; CHECK-NOT: call ptr @hearth_fast_new_3
; CHECK: call ptr @__hearth__ZnwmRKSt9nothrow_t12__hot_cold_t(
; CHECK: ret ptr
define ptr @nothrow(ptr %nothrow) {
  %p = call ptr @_ZnwmRKSt9nothrow_t(i64 40, ptr %nothrow) builtin "memprof"="notcold" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @rare(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(
define ptr @rare() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-pool"="2"
  ret ptr %p
}

; Control seldom comes here: the code would cost the rest of the function registers, so a function has it.
; CHECK-LABEL: define ptr @seldom(
; CHECK-NOT: store
; CHECK: call ptr @__hearth_fast.254.__hearth_malloc_hot_cold(i64 40, i8 zeroext -2)
; REMARK: a function with the allocator's fast path is called
; CHECK: ret ptr
define ptr @seldom(i1 %is_full, ptr %there) {
  br i1 %is_full, label %grow, label %done, !prof !0
grow:
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  br label %done
done:
  %r = phi ptr [ %there, %0 ], [ %p, %grow ]
  ret ptr %r
}

; The same where it mostly comes, in a loop that it seldom comes to.
; CHECK-LABEL: define void @in_a_loop(
; CHECK: store i8 3, ptr
; CHECK: ret void
define void @in_a_loop(i1 %is_any, ptr %list) {
  br i1 %is_any, label %loop, label %done, !prof !0
loop:
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  store volatile ptr %p, ptr %list
  %is_last = load volatile i1, ptr %list
  br i1 %is_last, label %done, label %loop
done:
  ret void
}

; CHECK-LABEL: define ptr @small(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(
define ptr @small() minsize {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @checked(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(
define ptr @checked() sanitize_address {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; Only the functions that are called stay.
; CHECK-DAG: declare extern_weak ptr @hearth_fast_malloc_3(ptr, i64)
; CHECK-DAG: define internal ptr @__hearth_fast.254.__hearth_malloc_hot_cold(i64 %0, i8 %1)
; CHECK-NOT: define internal ptr @__hearth_fast.{{.*}}alloc_hot_cold(ptr
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @valloc(i64)
declare ptr @_Znwm(i64)
declare ptr @_ZnwmRKSt9nothrow_t(i64, ptr)
declare i32 @__gxx_personality_v0(...)
!0 = !{!"branch_weights", i32 1, i32 100}
