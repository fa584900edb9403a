; Every form of operator new, called and invoked. Names and parameter order are tcmalloc's: the hint comes last.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output

; CHECK-LABEL: define void @calls(
; CHECK: call ptr @__hearth__Znwm12__hot_cold_t(i64 8, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnwmRKSt9nothrow_t12__hot_cold_t(i64 8, ptr @nothrow, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnwmSt11align_val_t12__hot_cold_t(i64 8, i64 64, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t(i64 8, i64 64, ptr @nothrow, i8 zeroext 0)
; CHECK: call ptr @__hearth__Znam12__hot_cold_t(i64 8, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnamRKSt9nothrow_t12__hot_cold_t(i64 8, ptr @nothrow, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnamSt11align_val_t12__hot_cold_t(i64 8, i64 64, i8 zeroext 0)
; CHECK: call ptr @__hearth__ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t(i64 8, i64 64, ptr @nothrow, i8 zeroext 0)
; CHECK: call { ptr, i64 } @__hearth___size_returning_new_hot_cold(i64 8, i8 zeroext 0)
; CHECK: call { ptr, i64 } @__hearth___size_returning_new_aligned_hot_cold(i64 8, i64 64, i8 zeroext 0)
define void @calls() {
  %1 = call ptr @_Znwm(i64 8) #0
  %2 = call ptr @_ZnwmRKSt9nothrow_t(i64 8, ptr @nothrow) #0
  %3 = call ptr @_ZnwmSt11align_val_t(i64 8, i64 64) #0
  %4 = call ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64 8, i64 64, ptr @nothrow) #0
  %5 = call ptr @_Znam(i64 8) #0
  %6 = call ptr @_ZnamRKSt9nothrow_t(i64 8, ptr @nothrow) #0
  %7 = call ptr @_ZnamSt11align_val_t(i64 8, i64 64) #0
  %8 = call ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64 8, i64 64, ptr @nothrow) #0
  %9 = call {ptr, i64} @__size_returning_new(i64 8) #0
  %10 = call {ptr, i64} @__size_returning_new_aligned(i64 8, i64 64) #0
  ret void
}

; LLVM's own lowering never touches an invoke: any `new` in a scope with something to destroy.
; CHECK-LABEL: define ptr @invoked(
; CHECK: %p = invoke ptr @__hearth__Znwm12__hot_cold_t(i64 8, i8 zeroext 0)
; CHECK-NEXT: to label %ok unwind label %bad
; CHECK: phi ptr [ %p, %ok ]
define ptr @invoked() personality ptr @__gxx_personality_v0 {
  %p = invoke ptr @_Znwm(i64 8) #0 to label %ok unwind label %bad
ok:
  br label %end
end:
  %q = phi ptr [ %p, %ok ]
  ret ptr %q
bad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; `new` that clang marks as builtin against its nobuiltin declaration may be lowered, `::operator new(n)` may not.
; CHECK-LABEL: define void @builtin(
; CHECK: call ptr @__hearth__Znwm12__hot_cold_t(i64 8, i8 zeroext 0)
; CHECK: call ptr @_Znwj(
define void @builtin() {
  %p = call ptr @_Znwm(i64 8) #1
  %q = call ptr @_Znwj(i32 8) #0
  ret void
}

@nothrow = external constant i8
declare ptr @_Znwm(i64)
declare ptr @_Znwj(i32)
declare ptr @_ZnwmRKSt9nothrow_t(i64, ptr)
declare ptr @_ZnwmSt11align_val_t(i64, i64)
declare ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)
declare ptr @_Znam(i64)
declare ptr @_ZnamRKSt9nothrow_t(i64, ptr)
declare ptr @_ZnamSt11align_val_t(i64, i64)
declare ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)
declare {ptr, i64} @__size_returning_new(i64)
declare {ptr, i64} @__size_returning_new_aligned(i64, i64)
declare i32 @__gxx_personality_v0(...)

attributes #0 = { "memprof"="cold" }
attributes #1 = { builtin "memprof"="cold" }
