; Accesses that happen together are one addition; loops are counted before they run.
; RUN: %opt -passes=hearth-instrument -S %s | FileCheck %s --check-prefixes=CHECK,BLOCK
; RUN: %opt -passes=hearth-instrument -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -memprof-coalesce=granule -passes=hearth-instrument -S %s | FileCheck %s --check-prefixes=CHECK,GRANULE
; RUN: %opt -memprof-coalesce=granule -memprof-atomic -passes=hearth-instrument -S %s | FileCheck %s --check-prefix=ATOMIC

; Bytes 0 to 63 of a block lie in one line, byte 100 in the next. Within an alignment of 8, one granule is certain.
; CHECK-LABEL: define void @fields(
; BLOCK: add i32 {{.*}}, 3{{$}}
; BLOCK: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 2{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; CHECK-NOT: add i32
; CHECK: ret void
; ATOMIC-LABEL: define void @fields(
; ATOMIC: atomicrmw add ptr {{.*}}, i32 2 monotonic
; ATOMIC: atomicrmw add ptr {{.*}}, i32 1 monotonic
; ATOMIC: atomicrmw add ptr {{.*}}, i32 1 monotonic
define void @fields(ptr %p) {
  store i32 1, ptr %p, align 8
  %at4 = getelementptr i8, ptr %p, i64 4
  store i32 1, ptr %at4, align 4
  %at16 = getelementptr i8, ptr %p, i64 16
  store i32 1, ptr %at16, align 4
  %at100 = getelementptr i8, ptr %p, i64 100
  store i32 1, ptr %at100, align 4
  ret void
}

; Whatever the indices, they lead to elements of one block; which granules these are in is not known.
; CHECK-LABEL: define void @elements(
; BLOCK: ptrtoint ptr %at_i to i64
; BLOCK: add i32 {{.*}}, 3{{$}}
; BLOCK: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; GRANULE: add i32 {{.*}}, 1{{$}}
; CHECK-NOT: add i32
; CHECK: ret void
define void @elements(ptr %p, i64 %i, i64 %j) {
  %at_i = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %at_i
  %part = getelementptr i8, ptr %p, i64 16
  %at_j = getelementptr i64, ptr %part, i64 %j
  store i64 2, ptr %at_j
  store i64 3, ptr %part
  %far = getelementptr i8, ptr %at_j, i64 400
  store i64 4, ptr %far
  ret void
}

; What might end the block's life, or the program, is between.
; CHECK-LABEL: define void @called_between(
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: call void @unknown
; CHECK: add i32 {{.*}}, 2{{$}}
; CHECK: call i64 @pure
; CHECK-NOT: add i32
; CHECK: ret void
define void @called_between(ptr %p) {
  store i32 1, ptr %p
  call void @unknown()
  store i32 2, ptr %p
  %n = call i64 @pure(ptr %p)
  store i32 3, ptr %p
  ret void
}

; n words and n accesses to one place. Whether the words lie in one granule shows when the loop is entered.
; CHECK-LABEL: define void @loop(
; CHECK: entry:
; CHECK: lshr i64
; CHECK-NOT: body:
; CHECK: [[STEPS:%.*]] = sub i64 [[TRIPS:%.*]], 1
; CHECK: [[BYTES:%.*]] = mul i64 [[STEPS]], 8
; CHECK: [[LAST:%.*]] = add i64 [[FIRST:%.*]], [[BYTES]]
; GRANULE: [[DIFFERENT:%.*]] = xor i64 [[FIRST]], [[LAST]]
; GRANULE: [[IS_SHORT:%.*]] = icmp ult i64 [[DIFFERENT]], 16
; BLOCK: [[IS_SHORT:%.*]] = icmp ule i64 [[STEPS]], 7
; CHECK: br i1 [[IS_SHORT]]
; CHECK: lshr i64 [[FIRST]], 4
; GRANULE: trunc i64 [[TRIPS]] to i32
; BLOCK: trunc i64 [[STEPS]] to i32
; BLOCK: lshr i64 [[LAST]], 4
; BLOCK: add i32 {{.*}}, 1{{$}}
; CHECK: call void @__hearth_count_strided(i64 [[FIRST]], i64 8, i64 [[TRIPS]], i64 1)
; CHECK: body:
; CHECK-NOT: lshr
; CHECK: ret void
; ATOMIC-LABEL: define void @loop(
; ATOMIC: call void @__hearth_count_strided_atomic(
define void @loop(ptr %sum, ptr %words, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = getelementptr inbounds i64, ptr %words, i64 %i
  store i64 1, ptr %sum
  %word = load i64, ptr %at
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}

; What is read and written is counted by one addition.
; CHECK-LABEL: define void @increments(
; CHECK: call void @__hearth_count_strided(i64 {{.*}}, i64 8, i64 {{.*}}, i64 2)
; CHECK-NOT: lshr
; CHECK: ret void
define void @increments(ptr %words, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = getelementptr inbounds i64, ptr %words, i64 %i
  %word = load i64, ptr %at
  %more_word = add i64 %word, 1
  store i64 %more_word, ptr %at
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}

; What a loop accesses in one block is one walk, that of an access that moves.
; CHECK-LABEL: define void @of_one_block(
; GRANULE: call void @__hearth_count_strided(i64 {{.*}}, i64 -4, i64 {{.*}}, i64 1)
; GRANULE: call void @__hearth_count_strided(i64 {{.*}}, i64 -4, i64 {{.*}}, i64 1)
; BLOCK: icmp ule i64 {{.*}}, 15
; BLOCK: mul i64 {{.*}}, 3
; BLOCK: add i32 {{.*}}, 3{{$}}
; BLOCK: call void @__hearth_count_strided(i64 {{.*}}, i64 -4, i64 {{.*}}, i64 3)
; CHECK-NOT: @__hearth_count_strided
; CHECK: ret void
define void @of_one_block(ptr %digits, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ %n, %entry ], [ %next, %body ]
  %total = load i32, ptr %digits
  %at = getelementptr i32, ptr %digits, i64 %i
  %low = load i32, ptr %at
  %behind = getelementptr i8, ptr %at, i64 80
  store i32 %low, ptr %behind
  %next = add nsw i64 %i, -1
  %more = icmp ne i64 %next, 0
  br i1 %more, label %body, label %end
end:
  ret void
}

; 24 bytes are three accesses at both ends; the intrinsic stays one that the back end knows.
; CHECK-LABEL: define void @small_copy(
; BLOCK: add i32 {{.*}}, 3{{$}}
; BLOCK: add i32 {{.*}}, 3{{$}}
; CHECK: call void @llvm.memcpy
define void @small_copy(ptr %to, ptr %from) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 24, i1 false)
  ret void
}

declare void @unknown()
declare i64 @pure(ptr) nofree nounwind willreturn
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
