; A link clones for contexts that clang attached, beside modules with schemas of their own: what it writes follows the schema that is there.
; REQUIRES: lto-plugin
; RUN: %opt -passes='lto<O2>,hearth-verify' -memprof-lto-phase=postlink -S %s | FileCheck %s
; CHECK: call ptr @__hearth_malloc_hot_cold({{.*}}, !memprof.mib ![[LIST:[0-9]+]]
; CHECK: !memprof.schema = !{![[SCHEMA:[0-9]+]]}
; CHECK: ![[SCHEMA]] = !{!"Stack", !"TotalSize", !"Hotness"}
; CHECK: ![[LIST]] = !{![[SCHEMA]], !

target triple = "x86_64-unknown-linux-gnu"
declare ptr @malloc(i64)

define internal ptr @make(i64 %n) noinline !dbg !30 {
  %p = call ptr @malloc(i64 %n), !dbg !40, !memprof !10, !callsite !20
  ret ptr %p
}
define ptr @cold() !dbg !31 {
  %p = call ptr @make(i64 10), !dbg !41, !callsite !21
  ret ptr %p
}
define ptr @other() !dbg !32 {
  %p = call ptr @make(i64 20), !dbg !42, !callsite !22
  ret ptr %p
}
!llvm.module.flags = !{!0, !4}
!llvm.dbg.cu = !{!5}
!memprof.schema = !{!1}
!0 = !{i32 6, !"memprof.hints", !2}
!1 = !{!"Stack", !"TotalSize", !"Hotness"}
!2 = !{!3}
!3 = !{i8 -34, i8 0, i8 -128, i8 -2, i32 10, i32 100, i32 0, i32 0}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DICompileUnit(language: DW_LANG_C99, file: !6, emissionKind: LineTablesOnly)
!6 = !DIFile(filename: "a.c", directory: "/")
!7 = !DISubroutineType(types: !8)
!8 = !{}
!10 = !{!11, !12}
!11 = !{!13, !"cold"}
!12 = !{!14, !"notcold"}
!13 = !{i64 1, i64 2}
!14 = !{i64 1, i64 3}
!20 = !{i64 1}
!21 = !{i64 2}
!22 = !{i64 3}
!30 = distinct !DISubprogram(name: "make", scope: !6, file: !6, line: 1, type: !7, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !5)
!31 = distinct !DISubprogram(name: "cold", scope: !6, file: !6, line: 2, type: !7, spFlags: DISPFlagDefinition, unit: !5)
!32 = distinct !DISubprogram(name: "other", scope: !6, file: !6, line: 3, type: !7, spFlags: DISPFlagDefinition, unit: !5)
!40 = !DILocation(line: 1, column: 20, scope: !30)
!41 = !DILocation(line: 2, column: 20, scope: !31)
!42 = !DILocation(line: 3, column: 20, scope: !32)
