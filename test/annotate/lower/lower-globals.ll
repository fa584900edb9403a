; Hot and untouched globals get sections of their own: by LLVM's metadata where the code generator knows it, else by name. What is
; accessed little, unknown to the profile, in a section of its own, used unseen or under another name stays, and literals, which
; linkers merge.
; RUN: split-file %s %t && %hearth merge -q %t/profile.txt -o %t.prof
; RUN: %opt -passes=hearth-globals -memprof-use=%t.prof -S %t/module.ll | FileCheck %s --check-prefix=%if llvm22 %{PREFIX%} %else %{SECTION%}
; RUN: %opt -passes=hearth-globals,hearth-globals -memprof-use=%t.prof -S %t/module.ll | FileCheck %s --check-prefix=%if llvm22 %{PREFIX%} %else %{SECTION%}
; RUN: %opt -passes=hearth-globals -memprof-use=%t.prof -S %t/module.ll | %opt_plain -passes=verify -disable-output
; RUN: sed s/nounwind/sanitize_address/ %t/module.ll | %opt -passes=hearth-globals -memprof-use=%t.prof -S | FileCheck %s --check-prefix=NONE
; RUN: %hearth merge -q %t/none.txt -o %t.none.prof && %opt -passes=hearth-globals -memprof-use=%t.none.prof -S %t/module.ll | FileCheck %s --check-prefix=NONE

; PREFIX: @hot = global i32 1, align 4, !section_prefix ![[HOT:[0-9]+]]
; PREFIX: @cold = internal global i32 0, align 4, !section_prefix ![[COLD:[0-9]+]]
; PREFIX: @table = {{.*}}constant {{.*}} !section_prefix ![[COLD]]
; PREFIX: @pointer = {{.*}}constant {{.*}} !section_prefix ![[HOT]]
; PREFIX: @little = global i32 1, align 4{{$}}
; PREFIX: @unknown = internal global i32 0, align 4{{$}}
; PREFIX: @chosen = global i32 0, section "set", align 4{{$}}
; PREFIX: @used = global i32 0, align 4{{$}}
; PREFIX: @named_twice = global i32 0, align 4{{$}}
; PREFIX: @own = thread_local global i32 0, align 4{{$}}
; PREFIX: @.str = private unnamed_addr constant {{.*}}, align 1{{$}}
; PREFIX-DAG: !{i32 2, !"EnableDataAccessProf", i32 1}
; PREFIX-DAG: ![[HOT]] = !{!"section_prefix", !"hot"}
; PREFIX-DAG: ![[COLD]] = !{!"section_prefix", !"unlikely"}

; SECTION: @hot = global i32 1, section ".data.hot.hot", align 4
; SECTION: @cold = internal global i32 0, section ".bss.unlikely.cold", align 4
; SECTION: @table = {{.*}}constant {{.*}}, section ".rodata.unlikely.table"
; SECTION: @pointer = {{.*}}constant {{.*}}, section ".data.rel.ro.hot.pointer"
; SECTION: @little = global i32 1, align 4
; SECTION: @unknown = internal global i32 0, align 4
; SECTION: @chosen = global i32 0, section "set", align 4
; SECTION: @used = global i32 0, align 4
; SECTION: @named_twice = global i32 0, align 4
; SECTION: @own = thread_local global i32 0, align 4
; SECTION: @.str = private unnamed_addr constant {{.*}}, align 1

; NONE-NOT: {{section_prefix|\.unlikely|\.hot}}

;--- profile.txt
hearth-profile-text 1
run runs=1 accesses=1
global hot a.c kind=0 size=4 accesses=1000000
global little a.c kind=0 size=4 accesses=1
global cold a.c kind=1 local=1 size=4 accesses=0
global unknown b.c kind=1 local=1 size=4 accesses=0
global table a.c kind=2 size=12 accesses=0
global pointer a.c kind=3 size=8 accesses=5
global chosen a.c kind=1 size=4 accesses=0
global used a.c kind=1 size=4 accesses=0
global named_twice a.c kind=1 size=4 accesses=0
global own a.c kind=1 size=4 accesses=0
context
frame f a.c 1 1 1 0
AllocCount 1
;--- none.txt
hearth-profile-text 1
run runs=1 accesses=1
context
frame f a.c 1 1 1 0
AllocCount 1
;--- module.ll
source_filename = "src/a.c"

@hot = global i32 1, align 4
@cold = internal global i32 0, align 4
@table = constant [3 x i32] [i32 1, i32 2, i32 3], align 4
@pointer = constant ptr @hot, align 8
@little = global i32 1, align 4
@unknown = internal global i32 0, align 4
@chosen = global i32 0, section "set", align 4
@used = global i32 0, align 4
@named_twice = global i32 0, align 4
@own = thread_local global i32 0, align 4
@.str = private unnamed_addr constant [2 x i8] c"a\00", align 1
@llvm.used = appending global [1 x ptr] [ptr @used], section "llvm.metadata"
@alias = alias i32, ptr @named_twice

define void @f() nounwind {
  ret void
}
