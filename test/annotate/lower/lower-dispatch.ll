; A lowered call goes to a function of the module that calls the hinted function where the program has one, and the plain
; one otherwise. Both functions with a hint are attributed as LLVM knows the plain one to be, by its declaration or name.
; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s --check-prefixes=CHECK,%if llvm14 %{LLVM14%} %else %{ALLOCKIND%}
; RUN: %opt -passes=hearth-lower -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes=hearth-lower -S %s > %t.once
; RUN: %opt -passes=hearth-lower,hearth-lower -S %s | diff - %t.once

; Nothing that allocates is kept from being removed, and sizes are known.
; RUN: %opt -passes='hearth-lower,function(instcombine)' -S %s | FileCheck %s --check-prefix=SIZE
; SIZE-LABEL: define i64 @size(
; SIZE: ret i64 24

; RUN: %opt -passes=hearth-lower -S %s | FileCheck %s --check-prefix=REFERS
; REFERS-DAG: define linkonce_odr hidden void @__hearth_refers_to_free(){{.*}} comdat
; REFERS-DAG: define linkonce_odr hidden void @__hearth_refers_to_delete(){{.*}} comdat
; REFERS-DAG: @llvm.compiler.used = appending global [2 x {{.*}}@__hearth_refers_to_free{{.*}}@__hearth_refers_to_delete

define i64 @size() {
  %p = call ptr @calloc(i64 3, i64 8) #0
  %n = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false, i1 true, i1 false)
  call void @use(ptr %p)
  ret i64 %n
}

define void @f() {
  %p = call ptr @malloc(i64 8) #0
  call void @use(ptr %p)
  %q = call ptr @memalign(i64 64, i64 8) #0
  call void @use(ptr %q)
  %r = call ptr @_ZnwmSt11align_val_t(i64 8, i64 64) #1
  call void @use(ptr %r)
  ret void
}

; CHECK: declare extern_weak noalias {{(noundef )?}}ptr @calloc_hot_cold(i64 noundef, i64 noundef, i8 zeroext) [[CALLOC:#[0-9]+]]
; CHECK: define linkonce_odr hidden noalias {{(noundef )?}}ptr @__hearth_calloc_hot_cold(i64 noundef %0, i64 noundef %1, i8 zeroext %2) [[CALLOC_HERE:#[0-9]+]] comdat {
; CHECK: icmp ne {{.*}}@calloc_hot_cold, {{.*}}null
; CHECK: [[P:%[0-9]+]] = tail call ptr @calloc_hot_cold(i64 %0, i64 %1, i8 %2)
; CHECK-NEXT: ret ptr [[P]]
; CHECK: [[Q:%[0-9]+]] = tail call ptr @calloc(i64 %0, i64 %1)
; CHECK-NEXT: ret ptr [[Q]]
; CHECK-DAG: define {{.*}}@__hearth_malloc_hot_cold({{.*}}) [[MALLOC:#[0-9]+]] comdat
; CHECK-DAG: define {{.*}}noalias {{.*}}@__hearth_memalign_hot_cold({{.*}}) [[MEMALIGN:#[0-9]+]] comdat
; CHECK-DAG: define {{.*}}@__hearth__ZnwmSt11align_val_t12__hot_cold_t({{.*}}) [[NEW:#[0-9]+]] comdat
; LLVM14-DAG: attributes [[CALLOC]] = { {{.*}}nounwind {{.*}}allocsize(0,1){{.*}} }
; LLVM14-DAG: attributes [[MEMALIGN]] = { {{.*}}allocsize(1){{.*}} }
; LLVM14-DAG: attributes [[NEW]] = { {{.*}}noinline allocsize(0){{.*}} }
; ALLOCKIND-DAG: attributes [[CALLOC]] = { {{.*}}nounwind {{.*}}allockind("alloc,zeroed") allocsize(0,1) {{.*}}"alloc-family"="malloc" }
; ALLOCKIND-DAG: attributes [[MEMALIGN]] = { {{.*}}noinline {{.*}}allockind("alloc,uninitialized,aligned") allocsize(1) {{.*}}"alloc-family"="malloc" }
; ALLOCKIND-DAG: attributes [[NEW]] = { {{.*}}noinline {{.*}}allockind("alloc,uninitialized,aligned") allocsize(0) {{.*}}"alloc-family"="_ZnwmSt11align_val_t" }

; What the plain declaration says is kept, but for the twin that zeroes: it takes no hint.
; CHECK-DAG: attributes [[MALLOC]] = { {{.*}}"mine" }

declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)
declare void @use(ptr)
declare noalias ptr @malloc(i64 noundef) #2
declare ptr @calloc(i64 noundef, i64 noundef)
declare ptr @memalign(i64, i64)
declare ptr @_ZnwmSt11align_val_t(i64, i64)

attributes #0 = { "memprof"="cold" }
attributes #1 = { builtin "memprof"="cold" }
attributes #2 = { nounwind "alloc-variant-zeroed"="my_calloc" "mine" }
