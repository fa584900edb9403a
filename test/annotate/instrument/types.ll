; Types of allocation calls, from each source; nothing where the code does not say it.
; RUN: %opt -passes=hearth-types -S %s | FileCheck %s
; RUN: %opt -passes=hearth-types -S %s | %opt_plain -passes=verify -disable-output
; Twice is once.
; RUN: %opt -passes=hearth-types,hearth-types -S %s | FileCheck %s

; The record of a call: function id, line offset, column, size of the name, 0, the name and zeros.
; CHECK: <{ i64 {{-?[0-9]+}}, i32 1, i32 7, i32 5, i32 0, [8 x i8] c"small\00\00\00" }>, section "hearth_types", align 8
; CHECK: i32 2, i32 7, i32 11, i32 0, [16 x i8] c"ns::Derived\00
; CHECK: i32 3, i32 7, i32 6, i32 0, [8 x i8] c"ns::It
; CHECK: i32 4, i32 7, i32 5, i32 0, [8 x i8] c"large
; CHECK: i32 5, i32 7, i32 15, i32 0, [16 x i8] c"(debug)::Record\00"
; CHECK: i32 8, i32 7, i32 8, i32 0, [8 x i8] c"ns::Elem" }>, section "hearth_types", align 8
; CHECK-NOT: section "hearth_types"
; CHECK: @llvm.used = appending global [6 x ptr]

%struct.small = type { i64, i64 }
%struct.large = type { i64, i64, i64, i64 }

declare ptr @malloc(i64)
declare ptr @_Znwm(i64)
declare void @_ZN2ns7DerivedC1Ev(ptr)
declare void @_ZN2ns7DerivedD1Ev(ptr)

define void @f(i64 %n) !dbg !5 {
  %variable = alloca ptr
  ; Through a local variable. The large struct does not fit.
  %1 = call ptr @malloc(i64 16), !dbg !11
  store ptr %1, ptr %variable
  %2 = load ptr, ptr %variable
  %member = getelementptr %struct.small, ptr %2, i32 0, i32 1
  %other = getelementptr %struct.large, ptr %2, i32 0, i32 0
  ; Its constructor. A destructor says nothing.
  %3 = call ptr @_Znwm(i64 24), !dbg !12
  call void @_ZN2ns7DerivedD1Ev(ptr %3)
  call void @_ZN2ns7DerivedC1Ev(ptr %3)
  ; What it is stored to.
  %4 = call ptr @malloc(i64 %n), !dbg !13
  store ptr %4, ptr %variable, !tbaa !30
  ; Two that fit: the one of its size.
  %5 = call ptr @malloc(i64 32), !dbg !14
  %first = getelementptr %struct.small, ptr %5, i32 0, i32 1
  %second = getelementptr %struct.large, ptr %5, i32 0, i32 1
  ; What the front end says.
  %6 = call ptr @_Znwm(i64 8), !dbg !15, !heapallocsite !20
  ; Two, of which neither has its size.
  %7 = call ptr @malloc(i64 64), !dbg !16
  %third = getelementptr %struct.small, ptr %7, i32 0, i32 1
  %fourth = getelementptr %struct.large, ptr %7, i32 0, i32 1
  ; Nobody says it.
  %8 = call ptr @malloc(i64 16), !dbg !17
  %bytes = getelementptr i8, ptr %8, i64 1
  ret void
}

; std::allocator<ns::Elem>::allocate(unsigned long)
define ptr @_ZNSaIN2ns4ElemEE8allocateEm(i64 %n) !dbg !6 {
  %1 = call ptr @_Znwm(i64 %n), !dbg !18
  ret ptr %1
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.cpp", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{}
!5 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 10, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!6 = distinct !DISubprogram(name: "allocate", linkageName: "_ZNSaIN2ns4ElemEE8allocateEm", scope: !1, file: !1, line: 10, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!11 = !DILocation(line: 11, column: 7, scope: !5)
!12 = !DILocation(line: 12, column: 7, scope: !5)
!13 = !DILocation(line: 13, column: 7, scope: !5)
!14 = !DILocation(line: 14, column: 7, scope: !5)
!15 = !DILocation(line: 15, column: 7, scope: !5)
!16 = !DILocation(line: 16, column: 7, scope: !5)
!17 = !DILocation(line: 17, column: 7, scope: !5)
!18 = !DILocation(line: 18, column: 7, scope: !6)
!20 = !DIDerivedType(tag: DW_TAG_typedef, name: "Alias", baseType: !21)
!21 = !DICompositeType(tag: DW_TAG_structure_type, name: "Record", scope: !22, size: 64)
!22 = !DINamespace(name: "(debug)", scope: null)
!30 = !{!31, !31, i64 0}
!31 = !{!"p1 _ZTSN2ns2ItE", !32, i64 0}
!32 = !{!"omnipotent char", !33, i64 0}
!33 = !{!"root"}
