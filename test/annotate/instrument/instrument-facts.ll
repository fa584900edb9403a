; What the module says about functions that nobody else can call: pointers that never lead to the heap, calls that
; interrupt nothing. Nothing of it stays.
; RUN: %opt -passes=hearth-instrument -S %s | FileCheck %s
; RUN: %opt -passes=hearth-instrument -S %s | FileCheck %s --check-prefix=NOTHING --implicit-check-not=hearth-outside --implicit-check-not=hearth-quiet
; RUN: %opt -passes=hearth-instrument -S %s | %opt_plain -passes=verify -disable-output
; NOTHING: @__hearth_exact_init

@table = internal global [8 x i32] zeroinitializer
@function = global ptr @taken

declare void @unknown()

; Both callers pass what is not on the heap.
; CHECK-LABEL: define internal void @fill(
; CHECK-NOT: lshr
; CHECK: ret void
define internal void @fill(ptr %to, i32 %by) {
  store i32 %by, ptr %to
  call void @pass_on(ptr %to)
  ret void
}

; ... which calls itself and the one above.
; CHECK-LABEL: define internal void @pass_on(
; CHECK-NOT: lshr
; CHECK: ret void
define internal void @pass_on(ptr %to) {
  %at = getelementptr i32, ptr %to, i64 1
  %value = load i32, ptr %at
  %more = icmp ne i32 %value, 0
  br i1 %more, label %again, label %end
again:
  call void @pass_on(ptr %at)
  call void @fill(ptr %to, i32 3)
  call void @unknown()
  br label %end
end:
  ret void
}

define void @callers() {
  %slot = alloca [4 x i32]
  call void @fill(ptr %slot, i32 1)
  call void @fill(ptr @table, i32 2)
  ret void
}

; One of several callers passes what may be on the heap, in the second argument only.
; CHECK-LABEL: define internal void @copy(
; CHECK: lshr
; CHECK-NOT: lshr
; CHECK: ret void
define internal void @copy(ptr %to, ptr %from) {
  %value = load i32, ptr %from
  store i32 %value, ptr %to
  ret void
}

define void @copies(ptr %from) {
  %slot = alloca i32
  call void @copy(ptr %slot, ptr @table)
  call void @copy(ptr @table, ptr %from)
  call void @copy(ptr %slot, ptr %slot)
  ret void
}

; Through cycles, what one of them is given reaches the others.
; CHECK-LABEL: define internal void @even(
; CHECK: lshr
; CHECK-LABEL: define internal void @odd(
; CHECK: lshr
define internal void @even(ptr %at) {
  store i32 0, ptr %at
  call void @unknown()
  call void @odd(ptr %at)
  ret void
}
define internal void @odd(ptr %at) {
  store i32 1, ptr %at
  call void @unknown()
  call void @even(ptr %at)
  ret void
}
define void @cycles(ptr %heap) {
  %slot = alloca i32
  call void @odd(ptr %slot)
  call void @even(ptr %heap)
  ret void
}

; Others may call it; its address is known to others; nobody calls it.
; CHECK-LABEL: define void @exported(
; CHECK: lshr
; CHECK-LABEL: define internal void @taken(
; CHECK: lshr
; CHECK-LABEL: define internal void @without_callers(
; CHECK: lshr
define void @exported(ptr %at) {
  store i32 1, ptr %at
  ret void
}
define internal void @taken(ptr %at) {
  store i32 1, ptr %at
  ret void
}
define internal void @without_callers(ptr %at) {
  store i32 1, ptr %at
  ret void
}
define void @calls_both() {
  call void @exported(ptr @table)
  call void @taken(ptr @table)
  ret void
}

; The call between two accesses to one place can neither free nor end: one addition.
; CHECK-LABEL: define void @around_quiet(
; CHECK: add i32 {{.*}}, 2{{$}}
; CHECK-NOT: add i32
; CHECK: ret void
define void @around_quiet(ptr %p, i32 %n) {
  store i32 1, ptr %p
  %sum = call i32 @quiet(ptr %p, i32 %n)
  store i32 %sum, ptr %p
  ret void
}

; Loops and calls of its like change nothing.
define internal i32 @quiet(ptr %p, i32 %n) {
entry:
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %value = load volatile i32, ptr @table
  %next = add i32 %i, %value
  %more = icmp slt i32 %next, %n
  br i1 %more, label %body, label %end
end:
  %half = ashr i32 %n, 1
  %is_large = icmp sgt i32 %half, 10
  br i1 %is_large, label %deeper, label %out
deeper:
  %result = call i32 @quiet(ptr %p, i32 %half)
  ret i32 %result
out:
  ret i32 %next
}

; CHECK-LABEL: define void @around_others(
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: call i32 @ends
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: call void @waits
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: call void @calls_unknown
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: ret void
define void @around_others(ptr %p, i32 %n) {
  store i32 1, ptr %p
  %sum = call i32 @ends(i32 %n)
  store i32 %sum, ptr %p
  call void @waits()
  store i32 %sum, ptr %p
  call void @calls_unknown()
  store i32 %sum, ptr %p
  ret void
}

define internal i32 @ends(i32 %n) {
  %bad = icmp slt i32 %n, 0
  br i1 %bad, label %end, label %out
end:
  unreachable
out:
  ret i32 %n
}

@flag = internal global i32 0
define internal void @waits() {
  %value = load atomic i32, ptr @flag acquire, align 4
  ret void
}

define internal void @calls_unknown() {
  call void @unknown()
  ret void
}
