; A function with the fast path that a lowering before the link made may have lost parameters' values since: it is left to its calls,
; and others get one of their own.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s
; REQUIRES: llvm22

; CHECK: define internal ptr @[[BEFORE:__hearth_fast.before]](i64 %n, i8 %hint)
; CHECK-NEXT: call ptr @__hearth_malloc_hot_cold(i64 40, i8 -2)
define internal ptr @__hearth_fast.254.__hearth_malloc_hot_cold(i64 %n, i8 %hint) {
  %p = call ptr @__hearth_malloc_hot_cold(i64 40, i8 -2)
  ret ptr %p
}

; CHECK-LABEL: define ptr @before_the_link(
; CHECK-NEXT: call ptr @[[BEFORE]](i64 poison, i8 poison)
define ptr @before_the_link() {
  %p = call ptr @__hearth_fast.254.__hearth_malloc_hot_cold(i64 poison, i8 poison)
  ret ptr %p
}

; CHECK-LABEL: define ptr @in_the_link(
; CHECK: icmp ule i64 %n, 1024
; CHECK: call ptr @hearth_fast_malloc_3(ptr
define ptr @in_the_link(i64 %n) {
  %p = call ptr @malloc(i64 %n) "memprof"="hot" "hearth-frequent"
  ret ptr %p
}

declare ptr @__hearth_malloc_hot_cold(i64, i8)
declare ptr @malloc(i64)
