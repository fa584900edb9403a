; With -memprof-globals, accesses of global variables count, and a table tells the runtime what lies where. Final definitions
; begin in granules of their own. What the program put into a section, and what each thread has, is left alone.
; RUN: %opt -passes=hearth-instrument -memprof-globals -S %s | FileCheck %s
; RUN: %opt -passes=hearth-instrument -memprof-globals -S %s | %opt_plain -passes=verify -disable-output
; RUN: %opt -passes=hearth-instrument -S %s | FileCheck %s --check-prefix=OFF --implicit-check-not=hearth.globals
; RUN: %opt -passes=hearth-instrument -memprof-globals -memprof-histogram -S %s 2> %t.warning | FileCheck %s --check-prefix=OFF --implicit-check-not=hearth.globals
; RUN: FileCheck %s --check-prefix=WARNING < %t.warning
; WARNING: -memprof-globals: accesses of global variables are not counted in histogram mode
source_filename = "src/program.c"

@counter = internal global i32 0, align 4
@table = constant [3 x i32] [i32 1, i32 2, i32 3], align 4
@names = internal constant [1 x ptr] [ptr @.str], align 8
@.str = private unnamed_addr constant [4 x i8] c"a\22c\00", align 1
@empty = private unnamed_addr constant [1 x i8] zeroinitializer, align 1
@other = weak global i32 7, align 4
@promoted.llvm.77 = hidden global i32 7, align 4
@chosen = internal global i32 0, section "set", align 4
@own = internal thread_local global i32 0, align 4
@elsewhere = external global i32

; CHECK-DAG: @counter = internal global i32 0, align 16
; CHECK-DAG: @table = constant {{.*}}, align 4
; CHECK-DAG: @.str = private unnamed_addr constant {{.*}}, align 16
; CHECK-DAG: @other = weak global i32 7, align 4
; CHECK-DAG: @chosen = internal global i32 0, section "set", align 4
; CHECK-DAG: @own = internal thread_local global i32 0, align 4
;
; Address, size, name, file, line, kind (0 data, 1 bss, 2 rodata, 3 relocated, 4 literal; 8 is added if local).
; CHECK: @hearth.globals.rows = private constant [7 x {{.*}}@counter to i64), i64 4, i32 10, i32 0, i32 0, i32 9 }
; CHECK-SAME: @table to i64), i64 12, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 2 }
; CHECK-SAME: @names to i64), i64 8, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 11 }
; CHECK-SAME: @.str to i64), i64 4, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 4 }
; CHECK-SAME: @empty to i64), i64 1, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 4 }
; CHECK-SAME: @other to i64), i64 4, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 0 }
; CHECK-SAME: @promoted.llvm.77 to i64), i64 4, i32 {{[0-9]+}}, i32 {{[0-9]+}}, i32 0, i32 8 }
; CHECK: @hearth.globals.names = private constant {{.*}}program.c\00counter\00table\00names\00\00\22a.c\22#{{.*}}other\00promoted\00
; CHECK: @hearth.globals = private constant {{.*}} i32 7, i32 {{[0-9]+}} }

; CHECK-LABEL: define i32 @count(
; CHECK: load i32, ptr %
; CHECK: load i32, ptr @counter
; CHECK: load i32, ptr %
; CHECK: load i32, ptr @elsewhere
; CHECK: ret i32
; OFF-LABEL: define i32 @count(
; OFF-NOT: add
; OFF: %a = load i32, ptr @counter
; OFF-NEXT: %b = load i32, ptr @elsewhere
define i32 @count() {
  %a = load i32, ptr @counter
  %b = load i32, ptr @elsewhere
  %c = add i32 %a, %b
  ret i32 %c
}

; CHECK-LABEL: define i32 @pass_over(
; CHECK-NEXT: load i32, ptr @chosen
; CHECK-NEXT: ret i32
define i32 @pass_over() {
  %a = load i32, ptr @chosen
  ret i32 %a
}

; CHECK: define internal void @memprof.module_ctor()
; CHECK: call void @__hearth_globals(ptr @hearth.globals)
