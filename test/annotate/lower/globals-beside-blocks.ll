; Beside counts of blocks, by which clang sorts jump tables, constants, literals and globals: what the profile says of a global stays, and the linker
; keeps the others apart, too.
; REQUIRES: llvm22, lld
; RUN: split-file %s %t && cd %t && %hearth merge -q profile.txt -o prof && %opt -passes=hearth-globals -memprof-use=prof -S module.ll -o placed.ll
; RUN: %clang -Xclang -disable-llvm-passes -O1 -fPIC -fpartition-static-data-sections -Wno-override-module -c placed.ll -o placed.o
; RUN: readelf -SW placed.o > sections && readelf -sW placed.o > symbols && FileCheck %s < sections
; RUN: awk -v want=.bss.hot. -v name=hot -f %S/../../e2e/Inputs/section-of.awk sections symbols
; RUN: awk -v want=.bss.unlikely. -v name=unlikely -f %S/../../e2e/Inputs/section-of.awk sections symbols
; RUN: for linker in bfd lld; do %clang -shared -fuse-ld=$linker -Wl,-Map=map placed.o $(%hearth flags use prof --globals --link) -o placed.so && \
; RUN:   FileCheck %s --check-prefix=MAP < map || exit 1; done
; CHECK-DAG: .rodata.hot.
; CHECK-DAG: .rodata.unlikely.
; CHECK-DAG: .rodata.cst8.unlikely.
; CHECK-DAG: .rodata.str1.1.unlikely.
; MAP: {{(^| )}}.rodata.hot{{( |$)}}
; MAP: .rodata.hot.
; MAP: {{(^| )}}.rodata.unlikely{{( |$)}}
; MAP-DAG: .rodata.unlikely.
; MAP-DAG: .rodata.cst8.unlikely.
; MAP-DAG: .rodata.str1.1.unlikely.
; MAP: .eh_frame

;--- profile.txt
hearth-profile-text 1
run runs=1 accesses=1
global hot a.c kind=1 size=4 accesses=1000000
global unlikely a.c kind=1 size=4 accesses=0
context
frame f a.c 1 1 1 0
AllocCount 1
;--- module.ll
source_filename = "src/a.c"

@hot = global i32 0
@unlikely = global i32 0
@.str = private unnamed_addr constant [4 x i8] c"abc\00", align 1

define i32 @often(i32 %n) !prof !10 {
  switch i32 %n, label %other [
    i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %e
  ], !prof !11
a:
  call void @f(i32 14)
  br label %other
b:
  call void @f(i32 99)
  br label %other
c:
  call void @f(i32 3)
  br label %other
d:
  call void @f(i32 77)
  br label %other
e:
  store i32 1, ptr @unlikely
  br label %other
other:
  ret i32 9
}

define double @never(double %x, i32 %n) !prof !12 {
  store i32 1, ptr @hot
  call void @g(ptr @.str)
  %product = fmul double %x, 3.14159
  switch i32 %n, label %other [
    i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %e
  ]
a:
  call void @f(i32 15)
  br label %other
b:
  call void @f(i32 98)
  br label %other
c:
  call void @f(i32 4)
  br label %other
d:
  call void @f(i32 76)
  br label %other
e:
  call void @f(i32 1)
  br label %other
other:
  ret double %product
}

declare void @f(i32)
declare void @g(ptr)

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"ProfileSummary", !1}
!1 = !{!2, !3, !4, !5, !6, !7, !8, !9}
!2 = !{!"ProfileFormat", !"InstrProf"}
!3 = !{!"TotalCount", i64 10000}
!4 = !{!"MaxCount", i64 10}
!5 = !{!"MaxInternalCount", i64 1}
!6 = !{!"MaxFunctionCount", i64 1000}
!7 = !{!"NumCounts", i64 3}
!8 = !{!"NumFunctions", i64 3}
!9 = !{!"DetailedSummary", !20}
!10 = !{!"function_entry_count", i64 7000}
!11 = !{!"branch_weights", i32 1000, i32 1000, i32 1000, i32 1000, i32 1000, i32 1000}
!12 = !{!"function_entry_count", i64 0}
!20 = !{!21, !22, !23}
!21 = !{i32 10000, i64 100, i32 1}
!22 = !{i32 990000, i64 100, i32 1}
!23 = !{i32 999999, i64 1, i32 2}
