; A function of the same name that is not libc's is left alone: defined in this module, of another type, or its hinted
; name is taken.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s
; RUN: %opt -passes=hearth-lower -S %s -pass-remarks-missed=hearth -disable-output 2>&1 | FileCheck %s --check-prefix=REMARK

; CHECK-LABEL: define ptr @f(
; CHECK: call ptr @malloc(i64 8)
; CHECK: call i32 @calloc(i32 8)
; CHECK: call ptr @valloc(i64 8)
; REMARK: valloc call not given the hint cold: the module uses the hinted function's name for something else
define ptr @f() {
  %p = call ptr @malloc(i64 8) #0
  %q = call i32 @calloc(i32 8) #0
  %r = call ptr @valloc(i64 8) #0
  ret ptr %p
}

define ptr @malloc(i64 %n) {
  ret ptr null
}
declare i32 @calloc(i32)
declare ptr @valloc(i64)
declare void @valloc_hot_cold()

attributes #0 = { "memprof"="cold" }
