; Annotated calls of the C allocation functions get a hint as one more parameter; declarations and calls keep everything
; else. Calls that say nothing stay as they are.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes=hearth-lower -memprof-hints=cold:1,hot:255,notcold:100,ambiguous:101 -S %s | FileCheck %s --check-prefix=VALUES
; RUN: not %opt -passes=hearth-lower -memprof-hints=cold:256 -disable-output %s 2>&1 | FileCheck %s --check-prefix=RANGE
; RUN: not %opt -passes=hearth-lower -memprof-hints=hot:255,warm:9 -disable-output %s 2>&1 | FileCheck %s --check-prefix=NAME
; NAME: 'warm' is not cold, notcold, hot or ambiguous
; RANGE: '256' is not a number from 0 to 255

; CHECK-LABEL: define void @c_functions(
; CHECK: %1 = call noalias ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext 0) [[COLD:#[0-9]+]]
; CHECK: %2 = call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext -2) [[HOT:#[0-9]+]]
; CHECK: %3 = call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext -128)
; CHECK: %4 = call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext -34)
; CHECK: %5 = call ptr @malloc(i64 8)
; CHECK: %6 = tail call ptr @__hearth_calloc_hot_cold(i64 2, i64 8, i8 zeroext 0)
; CHECK: %7 = call ptr @__hearth_realloc_hot_cold(ptr %6, i64 99, i8 zeroext 0)
; CHECK: %8 = call ptr @__hearth_reallocarray_hot_cold(ptr %7, i64 9, i64 9, i8 zeroext 0)
; CHECK: %9 = call ptr @__hearth_aligned_alloc_hot_cold(i64 64, i64 64, i8 zeroext 0)
; CHECK: %10 = call ptr @__hearth_memalign_hot_cold(i64 64, i64 64, i8 zeroext 0)
; CHECK: %11 = call i32 @__hearth_posix_memalign_hot_cold(ptr %slot, i64 64, i64 64, i8 zeroext 0)
; CHECK: %12 = call ptr @__hearth_valloc_hot_cold(i64 64, i8 zeroext 0)
; CHECK: %13 = call ptr @__hearth_strdup_hot_cold(ptr %8, i8 zeroext 0)
; CHECK: %14 = call ptr @__hearth_strndup_hot_cold(ptr %8, i64 3, i8 zeroext 0)
; CHECK: %15 = call ptr @__hearth_pvalloc_hot_cold(i64 64, i8 zeroext 0)
; CHECK: %16 = call ptr @__hearth_strdup_hot_cold(ptr %8, i8 zeroext 0)
; CHECK: %17 = call ptr @__hearth_strndup_hot_cold(ptr %8, i64 3, i8 zeroext 0)
; CHECK: ret void
; VALUES: call noalias ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext 1)
; VALUES: call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext -1)
; VALUES: call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext 100)
; VALUES: call ptr @__hearth_malloc_hot_cold(i64 8, i8 zeroext 101)
define void @c_functions(ptr %slot) {
  %1 = call noalias ptr @malloc(i64 8) #0
  %2 = call ptr @malloc(i64 8) #1
  %3 = call ptr @malloc(i64 8) #2
  %4 = call ptr @malloc(i64 8) #3
  %5 = call ptr @malloc(i64 8)
  %6 = tail call ptr @calloc(i64 2, i64 8) #0
  %7 = call ptr @realloc(ptr %6, i64 99) #0
  %8 = call ptr @reallocarray(ptr %7, i64 9, i64 9) #0
  %9 = call ptr @aligned_alloc(i64 64, i64 64) #0
  %10 = call ptr @memalign(i64 64, i64 64) #0
  %11 = call i32 @posix_memalign(ptr %slot, i64 64, i64 64) #0
  %12 = call ptr @valloc(i64 64) #0
  %13 = call ptr @strdup(ptr %8) #0
  %14 = call ptr @strndup(ptr %8, i64 3) #0
  %15 = call ptr @pvalloc(i64 64) #0
  %16 = call ptr @__strdup(ptr %8) #0
  %17 = call ptr @__strndup(ptr %8, i64 3) #0
  ret void
}

; Bundles, metadata and debug locations go along.
; CHECK-LABEL: define ptr @carried_over(
; CHECK: %p = notail call fastcc align 16 ptr @__hearth_malloc_hot_cold(i64 noundef %n, i8 zeroext 0) [[COLD]] [ "deopt"(i32 7) ], !mine
define ptr @carried_over(i64 %n) {
  %p = notail call fastcc align 16 ptr @malloc(i64 noundef %n) #0 [ "deopt"(i32 7) ], !mine !0
  ret ptr %p
}

; Neither can take a parameter.
; CHECK-LABEL: define ptr @not_lowered(
; CHECK: %p = call ptr @malloc(i64 %n) [[NOBUILTIN:#[0-9]+]]
; CHECK: %q = musttail call ptr @malloc(i64 %n)
; CHECK: ret ptr %q
define ptr @not_lowered(i64 %n) {
  %p = call ptr @malloc(i64 %n) #4
  %q = musttail call ptr @malloc(i64 %n) #0
  ret ptr %q
}

declare noalias ptr @malloc(i64 noundef) #5
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @reallocarray(ptr, i64, i64)
declare ptr @aligned_alloc(i64, i64)
declare ptr @memalign(i64, i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare ptr @valloc(i64)
declare ptr @strdup(ptr)
declare ptr @strndup(ptr, i64)
declare ptr @pvalloc(i64)
declare ptr @__strdup(ptr)
declare ptr @__strndup(ptr, i64)

; CHECK-DAG: attributes [[COLD]] = { "memprof"="cold" }
; CHECK-DAG: attributes [[HOT]] = { "memprof"="hot" }
attributes #0 = { "memprof"="cold" }
attributes #1 = { "memprof"="hot" }
attributes #2 = { "memprof"="notcold" }
attributes #3 = { "memprof"="ambiguous" }
attributes #4 = { nobuiltin "memprof"="cold" }
attributes #5 = { nounwind allocsize(0) "alloc-family"="malloc" }

!0 = !{!"type"}
