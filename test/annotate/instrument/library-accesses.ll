; What functions of libraries access counts at their calls: in front of them what is known there, behind them what they write and
; what their result tells. Of other functions nothing counts, but for those that the user lists.
; RUN: %opt -memprof-coalesce=off -passes=hearth-instrument -S %s | FileCheck %s
; RUN: %opt -memprof-coalesce=off -passes=hearth-instrument -S %s | %opt_plain -passes=verify -disable-output
; RUN: printf 'foreign 0 1:n2  # two ranges\nlist*\n' > %t.table
; RUN: %opt -memprof-coalesce=off -memprof-library-accesses=%t.table -passes=hearth-instrument -S %s | FileCheck %s --check-prefix=LISTED
; RUN: echo 'foreign 2:s' > %t.wrong
; RUN: not %opt -memprof-library-accesses=%t.wrong -passes=hearth-instrument -disable-output %s 2>&1 | FileCheck %s --check-prefix=WRONG
; RUN: not %opt -memprof-library-accesses=%t.missing -passes=hearth-instrument -disable-output %s 2>&1 | FileCheck %s --check-prefix=MISSING
; RUN: printf 'foreign\0 0\n' > %t.nul
; RUN: not %opt -memprof-library-accesses=%t.nul -passes=hearth-instrument -disable-output %s 2>&1 | FileCheck %s --check-prefix=NUL
; NUL: {{nul:1: a NUL byte: not the table of accesses}}
; WRONG: {{wrong:1: the function foreign has no accesses '2:s'}}
; MISSING: {{missing: No such file}}

@format = private constant [11 x i8] c"%5d%%%s %p\00"

; CHECK-LABEL: define i32 @compared(
; CHECK: call void @__hearth_count_compared(ptr %p, ptr %q, i64 -1, i64 1)
; CHECK: call i32 @strcmp(
; CHECK: call void @__hearth_count_compared(ptr %p, ptr %q, i64 %n, i64 2)
; CHECK: call i32 @strncasecmp(
; CHECK: call void @__hearth_count_compared(ptr %p, ptr %q, i64 %n, i64 0)
; CHECK: call i32 @memcmp(
define i32 @compared(ptr %p, ptr %q, i64 %n) {
  %a = call i32 @strcmp(ptr %p, ptr %q)
  %b = call i32 @strncasecmp(ptr %p, ptr %q, i64 %n)
  %c = call i32 @memcmp(ptr %p, ptr %q, i64 %n)
  ret i32 %c
}

; CHECK-LABEL: define ptr @found(
; CHECK: %a = call ptr @strchr(
; CHECK-NEXT: call void @__hearth_count_until(ptr %p, ptr %a, i64 -1)
; CHECK: %b = call ptr @memchr(
; CHECK-NEXT: call void @__hearth_count_until(ptr %p, ptr %b, i64 %n)
; CHECK: call void @__hearth_count_string(ptr %q, i64 -1)
; CHECK: %c = call ptr @strtok(
; CHECK-NEXT: call void @__hearth_count_string(ptr %c, i64 -1)
define ptr @found(ptr %p, ptr %q, i64 %n) {
  %a = call ptr @strchr(ptr %p, i32 1)
  %b = call ptr @memchr(ptr %p, i32 1, i64 %n)
  %c = call ptr @strtok(ptr %p, ptr %q)
  ret ptr %c
}

; The string of %s alone, and as much as was written.
; CHECK-LABEL: define i32 @formatted(
; CHECK-NOT: @__hearth_count_{{.*}}(ptr %q
; CHECK: call void @__hearth_count_printed(ptr %p, i64 -1)
; CHECK-NOT: @__hearth_count_
; CHECK: call i32 (ptr, i64, ptr, ...) @snprintf(
; CHECK: call void @__memprof_record_access_range(ptr %q,
; CHECK: ret
define i32 @formatted(ptr %p, ptr %q) {
  %a = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %q, i64 9, ptr @format, i32 1, ptr %p, ptr %q)
  ret i32 %a
}

; Streams without locks as those with, locks themselves, what grows while it is formatted, and the result of a path.
; CHECK-LABEL: define i32 @unlocked(
; CHECK: call void @__hearth_count_printed(ptr %p, i64 -1)
; CHECK: call i32 @fputs_unlocked(
; CHECK: call i32 @pthread_mutex_lock(
; CHECK: call i32 @__vasprintf_chk(
; CHECK: load ptr, ptr %p
; CHECK: call ptr @realpath(
; CHECK-NEXT: call void @__hearth_count_string(ptr %d, i64 -1)
define i32 @unlocked(ptr %p, ptr %q) {
  %a = call i32 @fputs_unlocked(ptr %p, ptr %q)
  %b = call i32 @pthread_mutex_lock(ptr %q)
  %c = call i32 @__vasprintf_chk(ptr %p, i32 1, ptr @format, ptr %q)
  %d = call ptr @realpath(ptr %p, ptr null)
  ret i32 %a
}

; Further names of functions, of those that have them; other such names are the program's own.
; CHECK-LABEL: define i32 @forms(
; CHECK: call i64 @pread64(
; CHECK: call void @__memprof_record_access_range(ptr %p,
; CHECK: call void @__hearth_count_string(ptr %q, i64 -1)
; CHECK: call i32 (ptr, ptr, ...) @__isoc99_sscanf(
; CHECK: store i32
; CHECK: call i32 (ptr, ptr, ...) @__isoc23_fscanf(
; CHECK: store i32
; CHECK: call i64 @__isoc23_strtol(
; CHECK-NOT: store i32
; CHECK-NOT: @__hearth_count_
; CHECK-NOT: @__memprof_record_access_range
; CHECK: ret
define i32 @forms(ptr %p, ptr %q, i64 %n) {
  %a = call i64 @pread64(i32 1, ptr %p, i64 %n, i64 0)
  %b = call i32 (ptr, ptr, ...) @__isoc99_sscanf(ptr %q, ptr @format, ptr %p)
  %c = call i32 (ptr, ptr, ...) @__isoc23_fscanf(ptr %q, ptr @format, ptr %p)
  %d = call i64 @__isoc23_strtol(ptr %p, ptr %q, i32 10)
  %e = call ptr @memcpy64(ptr %p, ptr %q, i64 %n)
  %f = call i64 @write_unlocked(i32 1, ptr %p, i64 %n)
  %g = call i64 @__isoc99_strtol(ptr %p, ptr %q, i32 10)
  %h = call ptr @__isoc23_memcpy(ptr %p, ptr %q, i64 %n)
  ret i32 %b
}

; Registers that a jump finds again, and what the system reads and fills: in front of the call, as that may not return.
; CHECK-LABEL: define i32 @jumped(
; CHECK: ptrtoint ptr %p to i64
; CHECK: store i32
; CHECK: call i32 @_setjmp(
; CHECK: ptrtoint ptr %p to i64
; CHECK: ptrtoint ptr %q to i64
; CHECK: call i32 @nanosleep(
; CHECK: ptrtoint ptr %q to i64
; CHECK: store i32
; CHECK: call void @siglongjmp(
define i32 @jumped(ptr %p, ptr %q) {
  %a = call i32 @_setjmp(ptr %p)
  %b = call i32 @nanosleep(ptr %p, ptr %q)
  call void @siglongjmp(ptr %q, i32 1)
  unreachable
}

; What is copied once its length is known is read twice; wide characters are of four bytes.
; CHECK-LABEL: define i32 @printed(
; CHECK: call void @__hearth_count_printed(ptr %p, i64 -1)
; CHECK: call i32 @fputs(
; CHECK: call void @__hearth_count_wide_string(ptr %p, i64 %n)
; CHECK: call i64 @wcsnlen(
; CHECK: call void @__hearth_count_compared(ptr %p, ptr %q, i64 -1, i64 3)
; CHECK: call i32 @wcscmp(
; CHECK: %[[BYTES:.*]] = mul i64 %n, 4
; CHECK-NEXT: call void @__memprof_record_access_range(ptr %p, i64 %[[BYTES]])
; CHECK: call ptr @wmemset(
; CHECK: call i64 @sendmsg(
; CHECK: call void @__hearth_count_message(ptr %q,
define i32 @printed(ptr %p, ptr %q, i64 %n) {
  %a = call i32 @fputs(ptr %p, ptr %q)
  %b = call i64 @wcsnlen(ptr %p, i64 %n)
  %c = call i32 @wcscmp(ptr %p, ptr %q)
  %d = call ptr @wmemset(ptr %p, i32 1, i64 %n)
  %e = call i64 @sendmsg(i32 1, ptr %q, i32 0)
  ret i32 %a
}

; CHECK-LABEL: define i64 @numbers(
; CHECK: call i64 @readv(
; CHECK: call void @__hearth_count_vectors(ptr %p,
; CHECK: %[[SIZE:.*]] = mul i64 %n, %m
; CHECK-NEXT: call void @__memprof_record_access_range(ptr %p, i64 %[[SIZE]])
; CHECK-NEXT: call void @qsort(
; CHECK: call void @__memprof_record_access_range(ptr %p,
; CHECK: ptrtoint ptr %p to i64
; CHECK: call i64 @time(
define i64 @numbers(ptr %p, i64 %n, i64 %m) {
  %a = call i64 @readv(i32 1, ptr %p, i32 3)
  call void @qsort(ptr %p, i64 %n, i64 %m, ptr @compared)
  %b = call i64 @time(ptr %p)
  ret i64 %a
}

; CHECK-LABEL: define void @strings(
; CHECK: ptrtoint ptr %s
; CHECK: call i64 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm(
; CHECK-NEXT: call void @__hearth_count_std_part(ptr %s, i64 %n, i64 %a)
; CHECK: call void @__hearth_count_std_compared(ptr %s, ptr %t, i64 1)
; CHECK: call i32 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_(
; CHECK: invoke {{.*}}9_M_appendEPKcm(
; CHECK: done:
; CHECK-NEXT: call void @__hearth_count_std_string(ptr %s, i64 %n)
; CHECK: ptrtoint ptr %s
; CHECK: call void @_ZNSt6thread4joinEv(
; CHECK: ret
define void @strings(ptr %s, ptr %t, i64 %n) personality ptr @__gxx_personality_v0 {
  %a = call i64 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm(ptr %s, i8 1, i64 %n)
  %b = call i32 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_(ptr %s, ptr %t)
  invoke void @_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm(ptr %s, ptr %t, i64 %n) to label %done unwind label %pad
done:
  call void @_ZNSt6thread4joinEv(ptr %s)
  ret void
pad:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}

; A function of another file may count itself, and one that is called as no library's is none.
; CHECK-LABEL: define void @others(
; CHECK-NOT: ptrtoint
; CHECK-NOT: @__memprof_record_access_range
; CHECK: ret
; LISTED-LABEL: define void @others(
; LISTED: ptrtoint ptr %p
; LISTED: call void @__memprof_record_access_range(ptr %q, i64 %n)
; LISTED: call void @foreign(
; LISTED: ptrtoint ptr %q
; LISTED: call void @list_add(
; LISTED-NOT: @__hearth_count
; LISTED: ret
define void @others(ptr %p, ptr %q, i64 %n) {
  call void @foreign(ptr %p, ptr %q, i64 %n)
  call void @list_add(ptr %q)
  %a = call i32 @strcoll(ptr %p)
  ret void
}

; A program may have functions of these names, whose arguments are no strings.
; CHECK-LABEL: define i32 @names(
; CHECK-NOT: @__hearth_count_
; CHECK: ptrtoint ptr %p
; CHECK: call i32 @access(
; CHECK-NOT: @__hearth_count_
; CHECK-NOT: ptrtoint
; CHECK: ret
define i32 @names(ptr %p) {
  %a = call i32 @access(ptr %p, i32 1)
  %b = call ptr @index(ptr %p, i32 1)
  ret i32 %a
}

; CHECK-NOT: hearth-accesses
declare i32 @strcmp(ptr, ptr)
declare i32 @strncasecmp(ptr, ptr, i64)
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @strchr(ptr, i32)
declare ptr @memchr(ptr, i32, i64)
declare ptr @strtok(ptr, ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare i32 @fputs(ptr, ptr)
declare i32 @fputs_unlocked(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @__vasprintf_chk(ptr, i32, ptr, ptr)
declare ptr @realpath(ptr, ptr)
declare i64 @wcsnlen(ptr, i64)
declare i32 @wcscmp(ptr, ptr)
declare ptr @wmemset(ptr, i32, i64)
declare i64 @sendmsg(i32, ptr, i32)
declare i64 @readv(i32, ptr, i32)
declare void @qsort(ptr, i64, i64, ptr)
declare i64 @time(ptr)
declare i64 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm(ptr, i8, i64)
declare i32 @_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_(ptr, ptr)
declare void @_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm(ptr, ptr, i64)
declare void @_ZNSt6thread4joinEv(ptr)
declare i32 @_setjmp(ptr) returns_twice
declare i32 @nanosleep(ptr, ptr)
declare void @siglongjmp(ptr, i32) noreturn
declare void @foreign(ptr, ptr, i64)
declare void @list_add(ptr)
declare i32 @strcoll(ptr)
declare i32 @__gxx_personality_v0(...)
declare i64 @pread64(i32, ptr, i64, i64)
declare i32 @__isoc99_sscanf(ptr, ptr, ...)
declare i32 @__isoc23_fscanf(ptr, ptr, ...)
declare i64 @__isoc23_strtol(ptr, ptr, i32)
declare ptr @memcpy64(ptr, ptr, i64)
declare i64 @write_unlocked(i32, ptr, i64)
declare i64 @__isoc99_strtol(ptr, ptr, i32)
declare ptr @__isoc23_memcpy(ptr, ptr, i64)
declare i32 @access(ptr, i32)
declare ptr @index(ptr, i32)
