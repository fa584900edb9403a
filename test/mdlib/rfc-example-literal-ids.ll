; The worked example of the IR metadata RFC with its literal ids: main -> foo -> baz -> bar, 123, 234, 345 and 456; 567 is
; the allocation. LLVM's inliner carries !callsite along from LLVM 15 on; pruning then goes by it.
; REQUIRES: beside
;
; Before inlining nothing can be ruled out.
; RUN: %opt -passes=hearth-prune -S %s | FileCheck %s --check-prefix=BEFORE
; RUN: %opt -passes=hearth-prune -S %s | %opt_plain -passes=verify -disable-output
;
; bar inlined into baz: one context a call. LLVM's inliner drops !callsite once one class is left.
; RUN: sed 's/@_Z3barv() {/@_Z3barv() alwaysinline {/' %s | %opt -passes=always-inline,hearth-prune -S | FileCheck %s --check-prefix=BAZ
;
; Inlined up to main.
; RUN: sed 's/@_Z3\(...\)v() {/@_Z3\1v() alwaysinline {/' %s | %opt -passes=always-inline,hearth-prune -S | FileCheck %s --check-prefix=MAIN
; RUN: sed 's/@_Z3\(...\)v() {/@_Z3\1v() alwaysinline {/' %s | %opt -passes=always-inline,hearth-prune -S | %opt_plain -passes=verify -disable-output
;
; Only foo inlined into main: the call of baz has the two ids, innermost first.
; RUN: sed 's/@_Z3foov() {/@_Z3foov() alwaysinline {/' %s | %opt -passes=always-inline,hearth-prune -S | FileCheck %s --check-prefix=FOO

; BEFORE-LABEL: @_Z3barv
; BEFORE: call ptr @malloc(i64 4) [[AMBIGUOUS:#[0-9]+]], !memprof ![[LIST:[0-9]+]], !callsite ![[OWN:[0-9]+]], !memprof.mib ![[MIBS:[0-9]+]]
; BEFORE: attributes [[AMBIGUOUS]] = { "memprof"="ambiguous" }
; BEFORE: !memprof.schema = !{![[SCHEMA:[0-9]+]]}
; BEFORE: ![[SCHEMA]] = !{!"Stack", !"AllocCount"
; BEFORE-DAG: ![[MIBS]] = !{![[SCHEMA]], ![[MIB1:[0-9]+]], ![[MIB2:[0-9]+]]}
; BEFORE-DAG: ![[MIB1]] = !{![[S456:[0-9]+]], i32 2, i32 4,
; BEFORE-DAG: ![[S456]] = !{i64 456, ![[S234:[0-9]+]]}
; BEFORE-DAG: ![[MIB2]] = !{![[S345:[0-9]+]], i32 1, i32 4,
; BEFORE-DAG: ![[S345]] = !{i64 345, ![[S234]]}
; BEFORE-DAG: ![[S234]] = !{i64 234, ![[S123:[0-9]+]]}
; BEFORE-DAG: ![[S123]] = !{i64 123}
; 234 with another caller is another node; their root is one.
; BEFORE-DAG: = !{![[S567:[0-9]+]], i32 3, i32 4,
; BEFORE-DAG: ![[S567]] = !{i64 567, ![[OTHER234:[0-9]+]]}
; BEFORE-DAG: ![[OTHER234]] = !{i64 234, ![[S678:[0-9]+]]}
; BEFORE-DAG: ![[S678]] = !{i64 678, ![[S123]]}
; BEFORE-DAG: ![[LIST]] = !{![[FLAT1:[0-9]+]], ![[FLAT2:[0-9]+]]}
; BEFORE-DAG: ![[FLAT1]] = !{![[F456:[0-9]+]], !"cold"}
; BEFORE-DAG: ![[F456]] = !{i64 567, i64 456, i64 234, i64 123}
; BEFORE-DAG: ![[FLAT2]] = !{![[F345:[0-9]+]], !"notcold"}
; BEFORE-DAG: ![[F345]] = !{i64 567, i64 345, i64 234, i64 123}

; BAZ-LABEL: @_Z3bazv
; BAZ: call ptr @malloc(i64 4) [[NOTCOLD:#[0-9]+]], !memprof.mib ![[M345:[0-9]+]]
; BAZ: call ptr @malloc(i64 4) [[COLD:#[0-9]+]], !memprof.mib ![[M456:[0-9]+]]
; BAZ-DAG: attributes [[NOTCOLD]] = { "memprof"="notcold" }
; BAZ-DAG: attributes [[COLD]] = { "memprof"="cold" }
; BAZ-DAG: ![[M345]] = !{!{{[0-9]+}}, ![[MIB345:[0-9]+]]}
; BAZ-DAG: ![[MIB345]] = !{!{{[0-9]+}}, i32 1,
; BAZ-DAG: ![[M456]] = !{!{{[0-9]+}}, ![[MIB456:[0-9]+]]}
; BAZ-DAG: ![[MIB456]] = !{!{{[0-9]+}}, i32 2,

; MAIN-LABEL: @main
; MAIN: call ptr @malloc(i64 4) [[NOTCOLD:#[0-9]+]], !memprof.mib ![[M345:[0-9]+]]
; MAIN: call ptr @malloc(i64 4) [[COLD:#[0-9]+]], !memprof.mib ![[M456:[0-9]+]]
; MAIN-DAG: attributes [[NOTCOLD]] = { "memprof"="notcold" }
; MAIN-DAG: attributes [[COLD]] = { "memprof"="cold" }
; MAIN-DAG: ![[M345]] = !{!{{[0-9]+}}, ![[MIB345:[0-9]+]]}
; MAIN-DAG: ![[MIB345]] = !{![[S345:[0-9]+]], i32 1,
; MAIN-DAG: ![[S345]] = !{i64 345, ![[S234:[0-9]+]]}
; MAIN-DAG: ![[M456]] = !{!{{[0-9]+}}, ![[MIB456:[0-9]+]]}
; MAIN-DAG: ![[MIB456]] = !{![[S456:[0-9]+]], i32 2,
; MAIN-DAG: ![[S456]] = !{i64 456, ![[S234]]}
; MAIN-DAG: ![[S234]] = !{i64 234, ![[S123:[0-9]+]]}
; MAIN-DAG: ![[S123]] = !{i64 123}

; FOO-LABEL: @main
; FOO: call void @_Z3bazv(), !callsite ![[C:[0-9]+]]
; FOO: ![[C]] = !{i64 234, i64 123}

@x = external global i32

define void @_Z3barv() {
  %p = call ptr @malloc(i64 4) #0, !memprof !10, !callsite !9, !memprof.mib !20
  store ptr %p, ptr @sink
  ret void
}

define void @_Z3bazv() {
  %v = load i32, ptr @x
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %else
then:
  call void @_Z3barv(), !callsite !3
  br label %end
else:
  call void @_Z3barv(), !callsite !4
  br label %end
end:
  ret void
}

define void @_Z3foov() {
  call void @_Z3bazv(), !callsite !2
  ret void
}

define void @_Z3quxv() {
  %p = call ptr @malloc(i64 4) #1, !callsite !8, !memprof.mib !23
  store ptr %p, ptr @sink
  ret void
}

define i32 @main() {
  call void @_Z3foov(), !callsite !1
  ret i32 0
}

@sink = global ptr null
declare noalias ptr @malloc(i64)

attributes #0 = { "memprof"="ambiguous" }
attributes #1 = { "memprof"="cold" }

!memprof.schema = !{!30}

!1 = !{i64 123}
!2 = !{i64 234}
!3 = !{i64 345}
!4 = !{i64 456}
!8 = !{i64 789}
!9 = !{i64 567}
!10 = !{!11, !13}
!11 = !{!12, !"cold"}
!12 = !{i64 567, i64 456, i64 234, i64 123}
!13 = !{!14, !"notcold"}
!14 = !{i64 567, i64 345, i64 234, i64 123}

; The chained form, as the RFC shares its tails.
!15 = !{i64 456, !18}
!17 = !{i64 345, !18}
!18 = !{i64 234, !19}
!19 = !{i64 123}
!20 = !{!30, !21, !22}
!21 = !{!15, i32 2, i32 4, i32 4, i32 4, i64 10, i64 5, i64 15, i32 30, i32 20, i32 40, i32 0, i32 0, i32 1}
!22 = !{!17, i32 1, i32 4, i32 4, i32 4, i64 5, i64 1, i64 10, i32 10, i32 10, i32 10, i32 0, i32 0, i32 2}
!23 = !{!30, !24}
!24 = !{!25, i32 3, i32 4, i32 4, i32 4, i64 10, i64 5, i64 15, i32 30, i32 20, i32 40, i32 0, i32 0, i32 1}
!25 = !{i64 567, !26}
!26 = !{i64 234, !27}
!27 = !{i64 678, !19}
!30 = !{!"Stack", !"AllocCount", !"AveSize", !"MinSize", !"MaxSize", !"AveAccessCount", !"MinAccessCount", !"MaxAccessCount", !"AveLifetime", !"MinLifetime", !"MaxLifetime", !"NumMigration", !"NumLifetimeOverlaps", !"Hotness"}
