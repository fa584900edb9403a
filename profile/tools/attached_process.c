/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread of the program is stopped, made to call a function, and put back: registers and interrupted system call are
 * as before. The other threads go on, so that locks that the function waits for are given.
 *
 * The thread itself must hold none that the function needs, those of malloc and of the dynamic loader. Where it is says
 * that it does not: it waits in a system call that neither makes, or it runs code of a module that is neither, and no
 * signal handler is below. Threads are looked at in turn until one is in such a place. */
#define _GNU_SOURCE /* process_vm_readv */
#include "command.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "object_file.h"

#include "hearth/running_program.h"

/* Looks at all threads, with pauses between: some five seconds. */
enum { TRIES = 200, PAUSE_NS = 25000000 };

/* -------------------------------------------------- the process -------------------------------------------------- */

typedef struct process_library {
  char path[PATH_MAX]; /* as the process sees it */
  uint64_t base;
} process_library;

typedef struct mapping {
  uint64_t start, end, offset;
  bool is_code;
  char path[PATH_MAX];
} mapping;

/* Mappings without file have no path. */
static bool next_mapping(FILE *maps, mapping *ret) {
  char line[PATH_MAX + 128], rights[5] = "";
  int path = 0;
  if (!fgets(line, sizeof line, maps))
    return false;
  *ret = (mapping){0};
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &ret->start, &ret->end, rights, &ret->offset,
             &path) < 4)
    return false;
  ret->is_code = rights[2] == 'x';
  line[strcspn(line, "\n")] = '\0';
  snprintf(ret->path, sizeof ret->path, "%s", path ? line + path : "");
  return true;
}

/* The mapping that has an address. */
static bool find_mapping(pid_t pid, uint64_t address, mapping *ret) {
  FILE *maps = hearth_open_proc(pid, "maps");
  bool found = false;
  while (maps && !found && next_mapping(maps, ret))
    found = address >= ret->start && address < ret->end;
  if (maps)
    fclose(maps);
  return found;
}

static bool find_library(pid_t pid, const char *name, process_library *ret) {
  FILE *maps = hearth_open_proc(pid, "maps");
  mapping at;
  bool found = false;
  while (maps && !found && next_mapping(maps, &at))
    found = at.offset == 0 && strncmp(hearth_base_name(at.path), name, strlen(name)) == 0;
  if (maps)
    fclose(maps);
  if (found) {
    ret->base = at.start;
    memcpy(ret->path, at.path, sizeof ret->path);
  }
  return found;
}

/* The file as this process can open it: the other one may have another root. */
static hearth_elf_file *open_file(pid_t pid, const char *path) {
  char own[PATH_MAX + 32];
  hearth_elf_file *file;
  hearth_error err;
  snprintf(own, sizeof own, "/proc/%d/root%s", (int)pid, path);
  return hearth_elf_file_open(own, &file, &err) == HEARTH_OK ? file : NULL;
}

static uint64_t attached_find_function(pid_t pid, const process_library *library, const char *name) {
  hearth_elf_file *file = open_file(pid, library->path);
  uint64_t value = file ? hearth_program_symbol(file, name) : 0;
  hearth_elf_file_close(file);
  return value ? library->base + value : 0;
}

static bool defines_malloc(pid_t pid, const char *path) {
  hearth_elf_file *file = open_file(pid, path);
  bool defines = !file || hearth_program_symbol(file, "malloc") != 0;
  hearth_elf_file_close(file);
  return defines;
}

static bool attached_read_memory(pid_t pid, uint64_t address, void *ret, size_t size) {
  struct iovec here = {ret, size}, there = {(void *)(uintptr_t)address, size};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool write_memory(pid_t pid, uint64_t address, const void *data, size_t size) {
  struct iovec here = {(void *)(uintptr_t)data, size}, there = {(void *)(uintptr_t)address, size};
  return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

typedef struct target {
  pid_t pid, thread;
  process_library libc;
  uint64_t end_of_handlers; /* the C library's code that handlers of signals return to; 0: not found */
} target;

/* mov $15,%rax; syscall: rt_sigreturn */
static uint64_t find_end_of_handlers(pid_t pid, const process_library *libc) {
  static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  FILE *maps = hearth_open_proc(pid, "maps");
  mapping at;
  uint64_t found = 0;
  while (maps && !found && next_mapping(maps, &at)) {
    size_t size = at.end - at.start;
    uint8_t *text = strcmp(at.path, libc->path) == 0 && at.is_code ? malloc(size) : NULL;
    const uint8_t *place =
        text && attached_read_memory(pid, at.start, text, size) ? memmem(text, size, code, sizeof code) : NULL;
    if (place)
      found = at.start + (uint64_t)(place - text);
    free(text);
  }
  if (maps)
    fclose(maps);
  return found;
}

/* -------------------------------------------------- a safe place -------------------------------------------------- */

/* Neither malloc nor the loader waits in these, called by the C library. A lock of either waits with FUTEX_WAIT. */
static bool is_wait(const struct user_regs_struct *registers) {
  static const unsigned long waits[] = {
      SYS_read,     SYS_readv,      SYS_poll,          SYS_ppoll,           SYS_select,
      SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait,   SYS_nanosleep,       SYS_clock_nanosleep,
      SYS_pause,    SYS_wait4,      SYS_waitid,        SYS_accept,          SYS_accept4,
      SYS_recvfrom, SYS_recvmsg,    SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_io_getevents};
  if (registers->orig_rax == SYS_futex)
    return (registers->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
    if (registers->orig_rax == waits[i])
      return true;
  return false;
}

/* Old words on the stack may make it true, no handler that runs makes it false. */
static bool may_be_in_handler(const target *t, uint64_t stack) {
  uint64_t words[8192];
  mapping at;
  stack &= ~(uint64_t)7;
  if (!t->end_of_handlers || !find_mapping(t->pid, stack, &at))
    return true;
  size_t size = at.end - stack < sizeof words ? at.end - stack : sizeof words;
  if (!attached_read_memory(t->pid, stack, words, size))
    return true;
  for (size_t i = 0; i < size / sizeof *words; i++)
    if (words[i] == t->end_of_handlers)
      return true;
  return false;
}

static bool is_safe_place(const target *t, const struct user_regs_struct *registers) {
  mapping at;
  bool waits = (int64_t)registers->orig_rax >= 0;
  if (!find_mapping(t->pid, registers->rip, &at) || may_be_in_handler(t, registers->rsp))
    return false;
  if (strcmp(at.path, t->libc.path) == 0)
    return waits && is_wait(registers);
  return !waits && at.path[0] == '/' && strncmp(hearth_base_name(at.path), "ld-", 3) != 0 &&
         !defines_malloc(t->pid, at.path);
}

/* -------------------------------------------------- stop and call -------------------------------------------------- */

/* Wait for the thread to stop. Returns the status; -1: it is no more. */
static int await_stop(pid_t thread) {
  int status;
  while (waitpid(thread, &status, __WALL) < 0)
    if (errno != EINTR)
      return -1;
  return WIFSTOPPED(status) ? status : -1;
}

/* Stopped by PTRACE_INTERRUPT. Signals that come first are the program's. */
static bool interrupt(pid_t thread) {
  if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
    return false;
  for (int status; (status = await_stop(thread)) >= 0;) {
    if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
      return true;
    long signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_CONT, thread, NULL, signal);
  }
  return false;
}

static bool detach(pid_t thread) { return ptrace(PTRACE_DETACH, thread, NULL, NULL) == 0; }

/* Vector registers, too. */
typedef struct state {
  struct user_regs_struct registers;
  char vectors[1 << 15];
  size_t vector_size;
} state;

static bool save(pid_t thread, state *ret) {
  struct iovec all = {ret->vectors, sizeof ret->vectors};
  if (ptrace(PTRACE_GETREGS, thread, NULL, &ret->registers) != 0 ||
      ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &all) != 0)
    return false;
  ret->vector_size = all.iov_len;
  return true;
}

static bool restore(pid_t thread, state *saved) {
  struct iovec all = {saved->vectors, saved->vector_size};
  return ptrace(PTRACE_SETREGSET, thread, (void *)NT_X86_XSTATE, &all) == 0 &&
         ptrace(PTRACE_SETREGS, thread, NULL, &saved->registers) == 0;
}

/* The function returns to address 0, which is no code: the thread stops there. Signals that come meanwhile are
 * handled by the program. False: it ended. */
static bool call(const target *t, const state *saved, uint64_t function, uint64_t text, uint64_t argument,
                 uint64_t *ret_result) {
  struct user_regs_struct registers = saved->registers;
  uint64_t nowhere = 0;
  registers.rsp = ((text ? text : saved->registers.rsp - 256) & ~(uint64_t)15) - sizeof nowhere;
  registers.rip = function;
  registers.rdi = text;
  registers.rsi = argument;
  registers.rax = 0;
  registers.orig_rax = (unsigned long)-1; /* no system call is begun again */
  if (!write_memory(t->pid, registers.rsp, &nowhere, sizeof nowhere) ||
      ptrace(PTRACE_SETREGS, t->thread, NULL, &registers) != 0 || ptrace(PTRACE_CONT, t->thread, NULL, NULL) != 0)
    return false;
  for (int status; (status = await_stop(t->thread)) >= 0;) {
    if (ptrace(PTRACE_GETREGS, t->thread, NULL, &registers) != 0)
      return false;
    if (WSTOPSIG(status) == SIGSEGV && registers.rip == 0) {
      *ret_result = registers.rax;
      return true;
    }
    long signal = status >> 16 ? 0 : WSTOPSIG(status);
    if (ptrace(PTRACE_CONT, t->thread, NULL, signal) != 0)
      return false;
  }
  return false;
}

/* -------------------------------------------------- threads -------------------------------------------------- */

static int refuse(pid_t pid, int error) {
  char line[256];
  int tracer = 0;
  FILE *status = hearth_open_proc(pid, "status");
  while (status && fgets(line, sizeof line, status))
    sscanf(line, "TracerPid: %d", &tracer);
  if (status)
    fclose(status);
  if (error == ESRCH)
    return hearth_tool_error("%d: no such process", (int)pid);
  if (tracer)
    return hearth_tool_error("%d: process %d traces it, a debugger as it seems; end that first", (int)pid, tracer);
  return hearth_tool_error("%d: may not be attached to (%s): that takes the rights of a debugger: root or "
                           "CAP_SYS_PTRACE, or the same user and kernel.yama.ptrace_scope=0 (sudo sysctl -w "
                           "kernel.yama.ptrace_scope=0); in a container, --cap-add=SYS_PTRACE",
                           (int)pid, strerror(error));
}

/* Stop the thread if it is in a safe place; *ret_error: why it cannot be stopped. */
static bool stop_thread(target *t, pid_t thread, state *ret, int *ret_error) {
  if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
    *ret_error = errno;
    return false;
  }
  if (interrupt(thread) && save(thread, ret) && is_safe_place(t, &ret->registers)) {
    t->thread = thread;
    return true;
  }
  detach(thread);
  return false;
}

/* The main thread is looked at first: it has the largest stack. */
static bool stop_any(target *t, state *ret, int *ret_error) {
  char path[64];
  int unused;
  bool stopped = stop_thread(t, t->pid, ret, ret_error);
  if (stopped || *ret_error)
    return stopped;
  snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
  DIR *tasks = opendir(path);
  for (struct dirent *task; !stopped && tasks && (task = readdir(tasks));) {
    pid_t thread = (pid_t)atoi(task->d_name);
    stopped = thread > 0 && thread != t->pid && stop_thread(t, thread, ret, &unused);
  }
  if (tasks)
    closedir(tasks);
  return stopped;
}

static int stop(target *t, state *ret) {
  int error = 0;
  for (int i = 0; i < TRIES; i++) {
    error = 0;
    if (stop_any(t, ret, &error))
      return HEARTH_EXIT_OK;
    if (error)
      return refuse(t->pid, error);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  return hearth_tool_error(
      "%d: for five seconds, none of its threads was in a place where it can be made to load a library: "
      "each is inside of malloc, the dynamic loader, a signal handler, or waits for a lock; try again",
      (int)t->pid);
}

/* The text goes below what the thread may use of its stack. */
static uint64_t push_text(const target *t, const state *saved, const char *text) {
  size_t size = strlen(text) + 1;
  uint64_t at = (saved->registers.rsp - 256 - size) & ~(uint64_t)15;
  return write_memory(t->pid, at, text, size) ? at : 0;
}

static int lost(const target *t) {
  return hearth_tool_error("%d: has ended, or is not under control any more", (int)t->pid);
}

enum { DLOPEN_NOW = 2 }; /* RTLD_NOW */

static int attached_load(const target *t, const state *saved, const char *library) {
  uint64_t open = attached_find_function(t->pid, &t->libc, "dlopen"),
           tell = attached_find_function(t->pid, &t->libc, "dlerror"), result;
  char reason[512] = "";
  if (!open)
    return hearth_tool_error("%d: its C library has no dlopen (glibc 2.34 or later has)", (int)t->pid);
  uint64_t path = push_text(t, saved, library);
  if (!path || !call(t, saved, open, path, DLOPEN_NOW, &result))
    return lost(t);
  if (result)
    return HEARTH_EXIT_OK;
  if (tell && call(t, saved, tell, 0, 0, &result) && result)
    for (size_t i = 0; i + 1 < sizeof reason && attached_read_memory(t->pid, result + i, reason + i, 1) && reason[i];
         i++)
      ;
  return hearth_tool_error("%d: cannot load %s: %s", (int)t->pid, library, *reason ? reason : "no reason is given");
}

static int load_and_call(const target *t, const state *saved, const char *path, const char *function, const char *text,
                         int *ret_result) {
  process_library library;
  uint64_t result;
  if (!find_library(t->pid, hearth_base_name(path), &library)) {
    int code = attached_load(t, saved, path);
    if (code != HEARTH_EXIT_OK)
      return code;
    if (!find_library(t->pid, hearth_base_name(path), &library))
      return hearth_tool_error("%d: %s: is not found in it", (int)t->pid, path);
  }
  uint64_t address = attached_find_function(t->pid, &library, function), at = push_text(t, saved, text);
  if (!address)
    return hearth_tool_error("%d: %s has no %s: it is of another release of Hearth", (int)t->pid, library.path,
                             function);
  if (!at || !call(t, saved, address, at, 0, &result))
    return lost(t);
  *ret_result = (int)result;
  return HEARTH_EXIT_OK;
}

static int call_of_library(pid_t pid, const char *library, const char *function, const char *text, int *ret_result) {
  static state saved;
  target t = {.pid = pid};
  if (!find_library(pid, "libc.so.6", &t.libc))
    return hearth_tool_error("%d: has no libc.so.6: it is linked statically, or not to glibc", (int)pid);
  t.end_of_handlers = find_end_of_handlers(pid, &t.libc);
  int code = stop(&t, &saved);
  if (code != HEARTH_EXIT_OK)
    return code;
  code = load_and_call(&t, &saved, library, function, text, ret_result);
  restore(t.thread, &saved);
  detach(t.thread);
  return code;
}

/* -------------------------------------------------- recording -------------------------------------------------- */

static int attached_check(pid_t pid) {
  process_library unused;
  if (kill(pid, 0) != 0 && errno == ESRCH)
    return refuse(pid, ESRCH);
  FILE *maps = hearth_open_proc(pid, "maps");
  bool may_look = maps && fgetc(maps) != EOF;
  if (maps)
    fclose(maps);
  if (!may_look)
    return refuse(pid, EPERM);
  if (find_library(pid, "libhearth_rt.so", &unused))
    return hearth_tool_error("%d: was compiled for profiling and records itself: 'hearth dump %d' writes its profile",
                             (int)pid, (int)pid);
  return HEARTH_EXIT_OK;
}

static int tell_refusal(pid_t pid, int result) {
  switch (result) {
  case HEARTH_ATTACH_AGAIN:
    return hearth_tool_error("%d: is being recorded", (int)pid);
  case HEARTH_ATTACH_NO_MALLOC:
    return hearth_tool_error("%d: the dynamic loader finds no malloc in it", (int)pid);
  default:
    return hearth_tool_error(
        "%d: cannot write a trace; its standard error says why (the file is made with its rights; -o "
        "names another one)",
        (int)pid);
  }
}

/* Until the process ends or a signal says that it is enough. Returns whether it ended. */
static bool await_end(int process, const sigset_t *signals) {
  int signal = signalfd(-1, signals, SFD_CLOEXEC);
  struct pollfd events[] = {{.fd = process, .events = POLLIN}, {.fd = signal, .events = POLLIN}};
  while (poll(events, 2, -1) < 0 && errno == EINTR)
    ;
  close(signal);
  return events[0].revents != 0;
}

int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void)) {
  sigset_t signals, before;
  int result, code = attached_check(pid);
  if (code != HEARTH_EXIT_OK)
    return code;
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0)
    return hearth_tool_error("%d: its end cannot be waited for: %s (Linux 5.3 or later can)", (int)pid,
                             strerror(errno));
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, &before); /* the thread would not be put back */
  code = call_of_library(pid, library, "__hearth_attach", settings, &result);
  if (code == HEARTH_EXIT_OK && result != HEARTH_ATTACH_OK)
    code = tell_refusal(pid, result);
  if (code == HEARTH_EXIT_OK) {
    begun();
    if (!await_end(process, &signals))
      code = call_of_library(pid, library, "__hearth_detach", "", &result);
  }
  close(process);
  while (sigtimedwait(&signals, NULL, &(struct timespec){0}) > 0)
    ; /* they were about the recording */
  sigprocmask(SIG_SETMASK, &before, NULL);
  return code;
}
