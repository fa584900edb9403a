; Narrow sizes are extended: as the call says, else with zeros. The type of the call counts, whatever the declaration's is.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output

; CHECK-LABEL: define ptr @narrow(
; CHECK: [[N:%.*]] = zext i32 %n to i64
; CHECK: %p = call align 8 ptr @__hearth_malloc_hot_cold(i64 [[N]], i8 zeroext 0) #
; CHECK: [[S:%.*]] = zext i16 %s to i64
; CHECK: [[C:%.*]] = sext i8 %c to i64
; CHECK: %q = tail call ptr @__hearth_calloc_hot_cold(i64 [[S]], i64 [[C]], i8 zeroext -2) #
; CHECK: [[N2:%.*]] = zext i32 %n to i64
; CHECK: %r = call ptr @__hearth_realloc_hot_cold(ptr nonnull %q, i64 [[N2]], i8 zeroext 0) #
define ptr @narrow(i32 %n, i16 %s, i8 %c) {
  %p = call align 8 ptr @malloc(i32 noundef %n) #0
  %q = tail call ptr @calloc(i16 zeroext %s, i8 signext %c) #1
  %r = call ptr @realloc(ptr nonnull %q, i32 %n) #0
  ret ptr %r
}

; Without parameters; of another module's declaration.
; CHECK-LABEL: define ptr @other(
; CHECK: %p = call ptr @__hearth_valloc_hot_cold(i64 %n, i8 zeroext 0) #
; CHECK: %q = invoke ptr @__hearth_malloc_hot_cold(i64 %n, i8 zeroext 0) #
define ptr @other(i64 %n) personality ptr null {
  %p = call ptr (i64, ...) @valloc(i64 %n) #0
  %q = invoke ptr @malloc(i64 %n) #0 to label %end unwind label %pad
end:
  ret ptr %q
pad:
  %l = landingpad { ptr, i32 } cleanup
  ret ptr null
}

; No conversion: too few and too many parameters, an int as result, a floating number, and too wide a number.
; CHECK-LABEL: define void @not_lowered(
; CHECK-NOT: hot_cold
; CHECK: ret void
define void @not_lowered(i128 %wide) {
  call ptr (...) @valloc() #0
  call ptr (i64, i64, ...) @valloc(i64 1, i64 2) #0
  call i32 @malloc(i64 1) #0
  call ptr @malloc(double 1.0) #0
  call ptr @malloc(i128 %wide) #0
  ret void
}

declare ptr @malloc(i32 zeroext)
declare ptr @calloc(i16, i8)
declare ptr @realloc(ptr, i32)
declare ptr @valloc(...)

; CHECK: declare extern_weak {{.*}}ptr @malloc_hot_cold(i64{{.*}}, i8 zeroext)
; CHECK: define linkonce_odr hidden {{.*}}ptr @__hearth_malloc_hot_cold(i64 {{.*}}%0, i8 zeroext %1)
; CHECK: call ptr @malloc_hot_cold(i64 %0, i8 %1)
; CHECK: call ptr @malloc(i64 %0)

attributes #0 = { "memprof"="cold" }
attributes #1 = { "memprof"="hot" }
