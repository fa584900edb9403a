; Bursts: accesses are counted in a second version of the code, and a countdown chooses between the two.
; RUN: %opt -memprof-burst -passes=hearth-instrument,verify -S %s | FileCheck %s
; RUN: %opt -memprof-burst -memprof-coalesce=off -passes=hearth-instrument,verify -S %s | FileCheck %s --check-prefix=OFF
; RUN: %opt -memprof-burst -passes=hearth-instrument -disable-output -pass-remarks-missed=hearth %s 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: not %opt -memprof-burst -memprof-histogram -passes=hearth-instrument -disable-output %s 2>&1 | FileCheck %s --check-prefix=HISTOGRAM

; HISTOGRAM: -memprof-histogram needs all accesses: it does not go with -memprof-burst; leave one out

; CHECK: @__hearth_burst_left = external thread_local(initialexec) global i64

; At the entry, with the plain version in line.
; CHECK-LABEL: define i32 @leaf(
; CHECK: %[[OLD:.*]] = load i64, ptr @__hearth_burst_left
; CHECK-NEXT: %[[NEW:.*]] = sub i64 %[[OLD]], 1
; CHECK-NEXT: store i64 %[[NEW]], ptr @__hearth_burst_left
; CHECK-NEXT: %[[BELOW:.*]] = icmp slt i64 %[[NEW]], 0
; CHECK-NEXT: br i1 %[[BELOW]], label %[[TURN:.*]], label %[[PLAIN:[^,]*]], !prof
; CHECK: [[PLAIN]]:
; CHECK-NEXT: load i32, ptr %p
; CHECK-NEXT: ret
; CHECK-NOT: hearth.shadow
; CHECK: %hearth.shadow = load i64, ptr @__hearth_counters
; CHECK: load i32, ptr %p
; CHECK-NEXT: ret
; CHECK: [[TURN]]:
; CHECK-NEXT: %[[ANSWER:.*]] = call preserve_mostcc i1 @__hearth_burst_turn()
; CHECK-NEXT: br i1 %[[ANSWER]], label %{{.*}}, label %[[PLAIN]]
; CHECK-NOT: !hearth.counted
define i32 @leaf(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}

; Nothing to count: nothing changes.
; CHECK-LABEL: define void @nothing(
; CHECK-NOT: hearth
; CHECK: ret void
define void @nothing(ptr %p) {
  %q = call ptr @next(ptr %p)
  ret void
}

; A call that may allocate stands once; behind it the last decision holds. The head of a loop with calls decides anew,
; and the function's entry, on whose decision nothing depends, does not. The loop without calls is copied whole, and counted
; before it.
; CHECK-LABEL: define i32 @loops(
; CHECK: br label %[[HEAD:.*]]
; CHECK: [[HEAD]]:
; CHECK: store i64 %{{.*}}, ptr @__hearth_burst_left
; CHECK: %hearth.is_counted.0 = phi i1
; CHECK: %q = call ptr @next(ptr %p)
; CHECK-NEXT: br label %[[BEHIND:.*]]
; CHECK: [[BEHIND]]:
; CHECK-NEXT: br i1 %hearth.is_counted.0, label %{{.*}}counted, label %{{.*}}, !prof
; CHECK: inner:
; CHECK-NOT: hearth
; CHECK: br i1 %c, label %inner, label %latch
; CHECK: call void @__hearth_count_strided(
; CHECK: inner.counted:
; CHECK-NOT: hearth
; CHECK: br i1 %c.counted, label %inner.counted, label %latch
; CHECK: call preserve_mostcc i1 @__hearth_burst_turn()
; CHECK-NOT: @__hearth_burst_turn
; CHECK-NOT: call ptr @next
; OFF-LABEL: define i32 @loops(
; OFF: inner.counted:
; OFF: hearth.shadow
define i32 @loops(ptr %p, i64 %n) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi i32 [ 0, %entry ], [ %s2, %latch ]
  %q = call ptr @next(ptr %p)
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %t = phi i32 [ %s, %outer ], [ %t1, %inner ]
  %a = getelementptr i32, ptr %q, i64 %j
  %v = load i32, ptr %a
  %t1 = add i32 %t, %v
  %j1 = add i64 %j, 1
  %c = icmp ult i64 %j1, %n
  br i1 %c, label %inner, label %latch

latch:
  %s2 = mul i32 %t1, 3
  %i1 = add i64 %i, 1
  %d = icmp ult i64 %i1, %n
  br i1 %d, label %outer, label %end

end:
  ret i32 %s2
}

; An invoke stands once, as its landing pad does.
; CHECK-LABEL: define i32 @throws(
; CHECK: {{^}}.split.split:
; CHECK-NEXT: %[[COUNTED:.*]] = phi i1
; CHECK-NEXT: phi i32
; CHECK-NEXT: %r = invoke ptr @next(ptr %p)
; CHECK-NEXT: to label %[[NORMAL:.*]] unwind label %bad
; CHECK: [[NORMAL]]:
; CHECK-NEXT: br i1 %[[COUNTED]],
; CHECK: bad:
; CHECK-NEXT: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: br label
; CHECK-NOT: invoke
; CHECK: br i1 %[[COUNTED]],
; CHECK-LABEL: define i64 @length(
define i32 @throws(ptr %p) personality ptr @__gxx_personality_v0 {
  %v = load i32, ptr %p
  %r = invoke ptr @next(ptr %p) to label %ok unwind label %bad

ok:
  %w = load i32, ptr %r
  %s = add i32 %v, %w
  ret i32 %s

bad:
  %e = landingpad { ptr, i32 } cleanup
  store i32 %v, ptr %p
  resume { ptr, i32 } %e
}

; A library function that is counted makes no block: there are two calls, and the accesses of one are counted.
; CHECK: call i64 @strlen(
; CHECK: call i64 @strlen(
; CHECK: call void @__memprof_record_access_range(
; CHECK-NOT: @__memprof_record_access_range(
; CHECK: ret i64
define i64 @length(ptr %p) {
  %n = call i64 @strlen(ptr %p)
  ret i64 %n
}

; Variables stay in the first block; one of variable size may be in both versions.
; CHECK-LABEL: define void @variables(
; CHECK-NEXT: entry:
; CHECK-NEXT: %fixed = alloca i64
; CHECK-NEXT: br label
; CHECK: %varying = alloca i8, i64 %n
define void @variables(ptr %p, i64 %n) {
entry:
  %v = load i64, ptr %p
  %fixed = alloca i64
  store i64 %v, ptr %fixed
  %varying = alloca i8, i64 %n
  call ptr @next(ptr %fixed)
  call ptr @next(ptr %varying)
  %w = load i64, ptr %fixed
  store i64 %w, ptr %p
  ret void
}

; Labels with addresses stand once: both versions jump to them.
; CHECK-LABEL: define i32 @jumps(
; CHECK: indirectbr ptr %l, [label %a, label %b]
; CHECK: {{^}}a:
; CHECK: br i1 %hearth.is_counted
; CHECK: {{^}}b:
; CHECK: ret i32 0
; CHECK: indirectbr ptr %l.counted, [label %a, label %b]
define i32 @jumps(ptr %p, i64 %n) {
  %e = getelementptr ptr, ptr @table, i64 %n
  %l = load ptr, ptr %e
  %v = load i32, ptr %p
  indirectbr ptr %l, [label %a, label %b]

a:
  %w = load i32, ptr %p
  ret i32 %w

b:
  ret i32 0
}
@table = internal constant [2 x ptr] [ptr blockaddress(@jumps, %a), ptr blockaddress(@jumps, %b)]

; REMARK: accesses of this function are not counted, as it cannot have two versions: it calls a function that returns twice
; CHECK-LABEL: define i32 @again(
; CHECK-NOT: hearth
; CHECK: ret i32
define i32 @again(ptr %p) {
  %r = call i32 @setjmp(ptr %p) returns_twice
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK: call void @__hearth_burst_init()
declare ptr @next(ptr)
declare i64 @strlen(ptr)
declare i32 @setjmp(ptr) returns_twice
declare i32 @__gxx_personality_v0(...)
