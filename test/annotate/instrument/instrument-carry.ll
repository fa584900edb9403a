; Counts of accesses through one pointer are carried along the ways that control takes: each way has one addition.
; RUN: %opt -passes=hearth-instrument -S %s | FileCheck %s --check-prefixes=CHECK,BLOCK
; RUN: %opt -passes=hearth-instrument -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -memprof-coalesce=granule -passes=hearth-instrument -S %s | FileCheck %s --check-prefixes=CHECK,GRANULE
; Twice the same code: what it is does not hang on where things are in the compiler's memory.
; RUN: %opt -passes=hearth-instrument -S %s > %t.1 && %opt -passes=hearth-instrument -S %s > %t.2 && cmp %t.1 %t.2

; Two accesses or three, added once.
; CHECK-LABEL: define void @branches(
; CHECK-NOT: lshr
; CHECK: end:
; CHECK-NEXT: [[CARRIED:%.*]] = phi i64 [ 1, %0 ], [ 2, %sometimes ]
; CHECK-NEXT: [[ALL:%.*]] = add i64 [[CARRIED]], 1
; CHECK: trunc i64 {{.*}} to i32
; CHECK-NOT: lshr
; CHECK: ret void
define void @branches(ptr %p, i1 %c) {
  store i32 1, ptr %p
  br i1 %c, label %sometimes, label %end
sometimes:
  store i32 2, ptr %p
  br label %end
end:
  store i32 3, ptr %p
  ret void
}

; Elements of one block: counted where the last of them is, or where the way to it is left, at one that was accessed.
; CHECK-LABEL: define i64 @elements(
; BLOCK-NOT: lshr
; BLOCK: hearth:
; BLOCK: ptrtoint ptr %at_i to i64
; BLOCK: add i32 {{.*}}, 1{{$}}
; BLOCK: sometimes:
; BLOCK: ptrtoint ptr %at_j to i64
; BLOCK: add i32 {{.*}}, 2{{$}}
; GRANULE: ptrtoint ptr %at_i to i64
; GRANULE: ptrtoint ptr %at_j to i64
; GRANULE: add i32 {{.*}}, 1{{$}}
; CHECK-NOT: lshr
; CHECK: ret i64
define i64 @elements(ptr %p, i64 %i, i64 %j, i64 %wanted) {
  %at_i = getelementptr i64, ptr %p, i64 %i
  %v = load i64, ptr %at_i
  %c = icmp eq i64 %v, %wanted
  br i1 %c, label %sometimes, label %end
sometimes:
  %at_j = getelementptr i64, ptr %p, i64 %j
  %w = load i64, ptr %at_j
  br label %end
end:
  %result = phi i64 [ %v, %0 ], [ %w, %sometimes ]
  ret i64 %result
}

; An address that only one of the ways knows cannot be counted behind where they meet: each way counts for itself.
; CHECK-LABEL: define void @either_element(
; BLOCK: left:
; BLOCK: add i32 {{.*}}, 1{{$}}
; BLOCK: right:
; BLOCK: add i32 {{.*}}, 1{{$}}
; BLOCK: meet:
; BLOCK-NOT: lshr
; BLOCK: sometimes:
; BLOCK: add i32 {{.*}}, 1{{$}}
; CHECK: ret void
define void @either_element(ptr %p, i64 %i, i64 %j, i1 %c, i1 %d) {
  br i1 %c, label %left, label %right
left:
  %at_i = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %at_i
  br label %meet
right:
  %at_j = getelementptr i64, ptr %p, i64 %j
  store i64 2, ptr %at_j
  br label %meet
meet:
  br i1 %d, label %sometimes, label %end
sometimes:
  store i64 3, ptr %p
  br label %end
end:
  ret void
}

; Nothing is carried over a call that could free.
; CHECK-LABEL: define void @call_on_a_branch(
; CHECK: sometimes:
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: call void @unknown
; CHECK: end:
; CHECK-NEXT: phi i64 [ 1, %0 ], [ 0, %{{.*}} ]
; CHECK: ret void
define void @call_on_a_branch(ptr %p, i1 %c) {
  store i32 1, ptr %p
  br i1 %c, label %sometimes, label %end
sometimes:
  call void @unknown()
  br label %end
end:
  store i32 3, ptr %p
  ret void
}

; Nor over what could tell another thread to free.
; CHECK-LABEL: define void @atomic_between(
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: store atomic
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: ret void
define void @atomic_between(ptr %p) {
  store i32 1, ptr %p
  store atomic i32 1, ptr @flag release, align 4
  store i32 3, ptr %p
  ret void
}

; A loop's accesses are added behind it, with those before it and behind it. They may be more than a counter takes at once: then the
; runtime is told of the rest.
; CHECK-LABEL: define void @search(
; CHECK-NOT: lshr
; CHECK: body:
; CHECK-NEXT: [[CARRIED:%.*]] = phi i64 [ 1, %0 ], [ [[SUM:%.*]], %body ]
; CHECK: [[SUM]] = add i64 [[CARRIED]], 1
; CHECK-NOT: lshr
; CHECK: end:
; CHECK: [[GRANULE:%.*]] = lshr
; CHECK: [[REST:%.*]] = and i64 [[ALL:%.*]], -16777216
; CHECK: [[ANY:%.*]] = icmp ugt i64 [[ALL]], 16777215
; CHECK: and i64 [[ALL]], 16777215
; CHECK: store i32
; CHECK-NEXT: br i1 [[ANY]], label %[[TELL:.*]], label %[[GO_ON:.*]], !prof
; CHECK: [[TELL]]:
; CHECK-NEXT: call preserve_mostcc void @__hearth_granule_exceeded(i64 [[GRANULE]], i64 [[REST]])
; CHECK-NEXT: br label %[[GO_ON]]
; CHECK-NOT: lshr
; CHECK: ret void
define void @search(ptr %p) {
  store i32 1, ptr %p
  br label %body
body:
  %v = load i32, ptr %p
  %c = icmp eq i32 %v, 7
  br i1 %c, label %end, label %body
end:
  store i32 3, ptr %p
  ret void
}

; The way that leads to no further access has a block of its own. The fields are in one granule if a block starts at %p.
; CHECK-LABEL: define i32 @tagged(
; BLOCK-NOT: lshr
; BLOCK: hearth:
; BLOCK: add i32 {{.*}}, 1{{$}}
; BLOCK: br label %end
; BLOCK: number:
; BLOCK: add i32 {{.*}}, 2{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; CHECK-LABEL: define i32 @after_tagged
define i32 @tagged(ptr %p, ptr %q, i1 %other) {
  br i1 %other, label %end, label %look
look:
  %tag = load i32, ptr %p
  %is_number = icmp eq i32 %tag, 3
  br i1 %is_number, label %number, label %end
number:
  %value = getelementptr i8, ptr %p, i64 8
  %n = load i32, ptr %value
  br label %end
end:
  %result = phi i32 [ 0, %0 ], [ 1, %look ], [ %n, %number ]
  ret i32 %result
}

define i32 @after_tagged() {
  ret i32 0
}

; In each round another pointer: nothing is carried to the next.
; CHECK-LABEL: define i32 @list(
; BLOCK: more:
; BLOCK-NOT: lshr
; BLOCK: next:
; BLOCK: add i32 {{.*}}, 2{{$}}
; BLOCK: found:
; BLOCK: add i32 {{.*}}, 1{{$}}
; CHECK: ret i32
define i32 @list(ptr %first, i32 %wanted) {
  br label %more
more:
  %at = phi ptr [ %first, %0 ], [ %behind, %next ]
  %v = load i32, ptr %at, align 8
  %is_found = icmp eq i32 %v, %wanted
  br i1 %is_found, label %found, label %next
next:
  %place = getelementptr i8, ptr %at, i64 8
  %behind = load ptr, ptr %place, align 8
  br label %more
found:
  ret i32 %v
}

; A pointer that walks stays in the block it starts in, however far: its counts go round with it, and are added where the
; loop is left.
; CHECK-LABEL: define void @walk(
; CHECK: more:
; BLOCK: phi i64 [ 0, %0 ], [ [[SO_FAR:%.*]], %more ]
; BLOCK: [[SO_FAR]] = add i64 {{.*}}, 1
; BLOCK-NOT: lshr
; GRANULE: ptrtoint ptr %at to i64
; GRANULE: add i32 {{.*}}, 1{{$}}
; CHECK: br i1
; BLOCK: ptrtoint ptr %at to i64
; BLOCK: and i64 [[SO_FAR]], 16777215
; CHECK-NOT: lshr
; CHECK: ret void
define void @walk(ptr %first) {
  br label %more
more:
  %at = phi ptr [ %first, %0 ], [ %next, %more ]
  %v = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %ends = icmp eq i8 %v, 0
  br i1 %ends, label %end, label %more
end:
  ret void
}

; Steps that differ by what is there do not lead elsewhere either; nor does the choice between two.
; CHECK-LABEL: define void @stumble(
; CHECK: more:
; BLOCK: phi i64 [ 0, %0 ]
; BLOCK-NOT: lshr
; BLOCK: end:
; BLOCK: lshr
; CHECK: ret void
define void @stumble(ptr %first, i1 %wide) {
  br label %more
more:
  %at = phi ptr [ %first, %0 ], [ %joined, %join ]
  %v = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %skipped = getelementptr i8, ptr %at, i64 2
  switch i8 %v, label %join [
    i8 0, label %end
    i8 92, label %skip
  ]
skip:
  %stepped = select i1 %wide, ptr %skipped, ptr %next
  br label %join
join:
  %joined = phi ptr [ %next, %more ], [ %stepped, %skip ]
  br label %more
end:
  ret void
}

; One of two blocks, which change places: the counts of one must not become the other's.
; CHECK-LABEL: define void @exchange(
; CHECK-NOT: hearth.sunk
; CHECK: more:
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: br i1
; CHECK: ret void
define void @exchange(ptr %left, ptr %right) {
  br label %more
more:
  %at = phi ptr [ %left, %0 ], [ %other, %more ]
  %other = phi ptr [ %right, %0 ], [ %next, %more ]
  %v = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %ends = icmp eq i8 %v, 0
  br i1 %ends, label %end, label %more
end:
  ret void
}

; Several cases of a switch lead to one block; what is carried to it is carried once.
; CHECK-LABEL: define void @cases(
; CHECK: switch
; CHECK: last:
; CHECK: phi i64 [ 1, %0 ], [ 1, %0 ], [ 2, %case ]
; CHECK: ret void
define void @cases(ptr %p, i32 %n) {
  store i32 1, ptr %p
  switch i32 %n, label %none [
    i32 1, label %case
    i32 2, label %last
    i32 3, label %last
  ]
case:
  store i32 2, ptr %p
  br label %last
last:
  store i32 3, ptr %p
  br label %none
none:
  ret void
}

; Blocks that cannot be reached do not disturb.
; CHECK-LABEL: define void @unreachable(
; CHECK: ret void
define void @unreachable(ptr %p) {
  store i32 1, ptr %p
  br label %end
nowhere:
  store i32 2, ptr %p
  br i1 undef, label %end, label %nowhere
end:
  store i32 3, ptr %p
  ret void
}

@flag = global i32 0
declare void @unknown()
