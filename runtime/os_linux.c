/* x86-64 Linux. System calls are made directly: the C library's wrappers set errno, may be cancellation points, and
 * cannot be called before the program's relocations are done. */
#define _GNU_SOURCE /* sched_getcpu */
#include "os.h"

#include "lock.h"

#include <fcntl.h>
#include <linux/mman.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

uintptr_t hearth_forking_thread;

static long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;

  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static long call3(long number, long a, long b, long c) { return call6(number, a, b, c, 0, 0, 0); }

static void *map(size_t size, int protection) {
  long result = call6(SYS_mmap, 0, (long)size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return result < 0 ? NULL : (void *)result;
}

void *hearth_os_reserve(size_t size) { return map(size, PROT_NONE); }

bool hearth_os_commit(void *at, size_t size) {
  return call3(SYS_mprotect, (long)at, (long)size, PROT_READ | PROT_WRITE) == 0;
}

void *hearth_os_map(size_t size) { return map(size, PROT_READ | PROT_WRITE); }

void hearth_os_unmap(void *at, size_t size) { call3(SYS_munmap, (long)at, (long)size, 0); }

void hearth_os_discard(void *at, size_t size) {
  if (call3(SYS_madvise, (long)at, (long)size, MADV_DONTNEED) == 0)
    return;
  /* Locked pages (mlockall) cannot be dropped, but whoever calls this relies on zeros. */
  for (volatile uint64_t *word = at, *end = (uint64_t *)((char *)at + size); word < end; ++word)
    *word = 0;
}

void hearth_os_mark_sparse(void *at, size_t size) {
  call3(SYS_madvise, (long)at, (long)size, MADV_DONTDUMP);
  call3(SYS_madvise, (long)at, (long)size, MADV_NOHUGEPAGE);
}

bool hearth_os_peek(uintptr_t address, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)address, size};

  return call6(SYS_process_vm_readv, hearth_os_pid(), (long)&local, 1, (long)&remote, 1, 0) == (long)size;
}

int hearth_os_open_read(const char *path) { return (int)call3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0); }

int hearth_os_create(const char *path) {
  return (int)call3(SYS_open, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

long hearth_os_read(int fd, void *to, size_t size) { return call3(SYS_read, fd, (long)to, (long)size); }

long hearth_os_write(int fd, const void *from, size_t size) { return call3(SYS_write, fd, (long)from, (long)size); }

long hearth_os_write_at(int fd, const void *from, size_t size, uint64_t offset) {
  return call6(SYS_pwrite64, fd, (long)from, (long)size, (long)offset, 0, 0);
}

int hearth_os_close(int fd) { return (int)call3(SYS_close, fd, 0, 0); }

int hearth_os_rename(const char *from, const char *to) { return (int)call3(SYS_rename, (long)from, (long)to, 0); }

void hearth_os_unlink(const char *path) { call3(SYS_unlink, (long)path, 0, 0); }

bool hearth_os_working_directory(char *to, size_t size) {
  /* A directory outside the root is reported as "(unreachable)/...". */
  return call3(SYS_getcwd, (long)to, (long)size, 0) > 0 && to[0] == '/';
}

uint32_t hearth_os_pid(void) { return (uint32_t)call3(SYS_getpid, 0, 0, 0); }

void hearth_os_yield(void) { call3(SYS_sched_yield, 0, 0, 0); }

void hearth_os_exit(int code) {
  for (;;)
    call3(SYS_exit_group, code, 0, 0);
}

void hearth_os_abort(void) {
  /* The program's handler, if there is one, runs first; then the default action, core file included. */
  call3(SYS_tgkill, hearth_os_pid(), call3(SYS_gettid, 0, 0, 0), SIGABRT);
  struct {
    void (*handler)(int);
    unsigned long flags, restorer, mask;
  } action = {SIG_DFL, 0, 0, 0};
  call6(SYS_rt_sigaction, SIGABRT, (long)&action, 0, 8, 0, 0);
  uint64_t only_abort = UINT64_C(1) << (SIGABRT - 1);
  call6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&only_abort, 0, 8, 0, 0);
  call3(SYS_tgkill, hearth_os_pid(), call3(SYS_gettid, 0, 0, 0), SIGABRT);
  hearth_os_exit(134);
}

bool hearth_os_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

uintptr_t hearth_os_thread_pointer(void) {
  uintptr_t self;

  __asm__("mov %%fs:0, %0" : "=r"(self));
  return self;
}

uint32_t hearth_os_cpu(void) {
  int cpu = sched_getcpu();

  return cpu < 0 ? 0 : (uint32_t)cpu;
}

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now); /* the C library's: it reads the time without entering the kernel */
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t hearth_os_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t hearth_os_unix_ns(void) { return read_clock(CLOCK_REALTIME); }
