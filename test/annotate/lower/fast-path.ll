; Frequent calls take a freed block of the main pool in place, and call where there is none. Sizes that are constants leave no
; test of the size; cold blocks and those of other pools need the call.
; RUN: %opt -passes=hearth-lower -pass-remarks=hearth -S %s 2> %t | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes=hearth-lower -S %s | %clang -x ir -O0 -S -o - - | FileCheck %s --check-prefix=ASM
; REQUIRES: llvm22

; CHECK-DAG: @hearth_fast_pools_2 = weak thread_local(localexec) global [2 x ptr] zeroinitializer

; CHECK-LABEL: define ptr @of_constant_size(
; CHECK: %[[POOLS:.*]] = load ptr, ptr @hearth_fast_pools_2
; CHECK: icmp ne ptr %[[POOLS]], null
; CHECK: %[[BLOCK:.*]] = sub i64
; CHECK-NEXT: icmp {{(ne|eq)}} i64
; CHECK: store i8 3, ptr
; CHECK-DAG: call ptr @malloc(i64 40)
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext -2)
; CHECK: phi ptr
; REMARK: the allocator's fast path is in place of the call
; ASM-LABEL: of_constant_size:
; ASM: hearth_fast_pools_2@TPOFF
define ptr @of_constant_size() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; Blocks that mostly stay: no freed one is looked for.
; CHECK-LABEL: define ptr @that_stays(
; CHECK-NEXT: %[[POOLS:.*]] = load ptr, ptr @hearth_fast_pools_2
; CHECK-NEXT: icmp {{.*}} ptr %[[POOLS]], null
; CHECK-NOT: store
; CHECK-DAG: call ptr @malloc(i64 40)
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext -2)
; CHECK: ret ptr
define ptr @that_stays() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-frequent"="fresh"
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
; CHECK-DAG: call ptr @malloc(i64 %n)
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 %n, i8 zeroext -128)
define ptr @of_any_size(i64 %n) {
  %p = call ptr @malloc(i64 %n) "memprof"="notcold" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @zeroed(
; CHECK: call void @llvm.memset
; CHECK-DAG: call ptr @calloc(i64 2, i64 24)
; CHECK-DAG: call ptr @__hearth_calloc_hot_cold(i64 2, i64 24, i8 zeroext -128)
define ptr @zeroed() {
  %p = call ptr @calloc(i64 2, i64 24) "memprof"="notcold" "hearth-frequent"
  ret ptr %p
}

; An exception of the call goes where it went.
; CHECK-LABEL: define ptr @made(
; CHECK: load ptr, ptr getelementptr{{.*}} @hearth_fast_pools_2, i64 8)
; CHECK: invoke ptr @_Znwm(i64 40)
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
; CHECK: %[[POOLS:.*]] = load ptr, ptr @hearth_fast_pools_2
; CHECK: icmp {{eq|ne}} ptr %old, null
; CHECK: store i8 3, ptr
; CHECK-DAG: call ptr @realloc(ptr {{%old|null}}, i64 40)
; CHECK-DAG: call ptr @__hearth_realloc_hot_cold(ptr %old, i64 40, i8 zeroext -2)
define ptr @resized(ptr %old) {
  %p = call ptr @realloc(ptr %old, i64 40) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

; CHECK-LABEL: define ptr @resized_that_stays(
; CHECK-NEXT: call ptr @__hearth_realloc_hot_cold(
define ptr @resized_that_stays(ptr %old) {
  %p = call ptr @realloc(ptr %old, i64 40) "memprof"="hot" "hearth-frequent"="fresh"
  ret ptr %p
}

; CHECK-LABEL: define ptr @rare(
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(
define ptr @rare() {
  %p = call ptr @malloc(i64 40) "memprof"="hot" "hearth-pool"="2"
  ret ptr %p
}

; Control seldom comes here: the code would cost the rest of the function registers.
; CHECK-LABEL: define ptr @seldom(
; CHECK-NOT: store
; CHECK-DAG: call ptr @malloc(i64 40)
; CHECK-DAG: call ptr @__hearth_malloc_hot_cold(i64 40, i8 zeroext -2)
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

; A second call where the first one failed: jumps are threaded when both have their fast path.
; CHECK-LABEL: define ptr @twice(
; CHECK: @__hearth_malloc_hot_cold(i64 40, i8 zeroext -128)
; CHECK: ret ptr
define ptr @twice() {
  %p = call ptr @malloc(i64 40) "memprof"="notcold" "hearth-frequent"
  %failed = icmp eq ptr %p, null
  br i1 %failed, label %again, label %made
again:
  %q = call ptr @malloc(i64 48) "memprof"="notcold" "hearth-frequent"
  br label %made
made:
  %r = phi ptr [ %p, %0 ], [ %q, %again ]
  ret ptr %r
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

; CHECK-NOT: __hearth_fast
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @_Znwm(i64)
declare i32 @__gxx_personality_v0(...)
!0 = !{!"branch_weights", i32 1, i32 100}
