; Accesses that happen together are one addition.
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

; Nothing is joined over what could tell another thread to free.
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

; Nor are accesses of several basic blocks: each counts where it happens.
; CHECK-LABEL: define void @branches(
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: sometimes:
; CHECK: add i32 {{.*}}, 1{{$}}
; CHECK: end:
; CHECK: add i32 {{.*}}, 2{{$}}
; CHECK: ret void
define void @branches(ptr %p, i1 %c) {
  store i32 1, ptr %p
  br i1 %c, label %sometimes, label %end
sometimes:
  store i32 2, ptr %p
  br label %end
end:
  store i32 3, ptr %p
  %v = load i32, ptr %p
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

@flag = global i32 0
declare void @unknown()
declare i64 @pure(ptr) nofree nounwind willreturn
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
