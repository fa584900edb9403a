/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linux. System calls are made directly: the C library's wrappers set errno, may be cancellation points, and
 * cannot be called before the program's relocations are done. */
#define _GNU_SOURCE /* sched_getcpu */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

static long os_call3(long number, long a, long b, long c) { return hearth_os_call(number, a, b, c, 0, 0, 0); }

static int os_open_file(const char *path, int flags, int mode) {
  return (int)hearth_os_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

int hearth_os_open_read(const char *path) { return os_open_file(path, O_RDONLY | O_CLOEXEC, 0); }

int hearth_os_create(const char *path) { return os_open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }

int hearth_os_create_append(const char *path) {
  return os_open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int hearth_os_open_append(const char *path) {
  return os_open_file(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0);
}

bool hearth_os_is_device(const char *path) {
  struct stat info;

  return hearth_os_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&info, AT_SYMLINK_NOFOLLOW, 0, 0) == 0 &&
         S_ISCHR(info.st_mode);
}

/* Something else may have got the name meanwhile, and is not written to. */
int hearth_os_open_device(const char *path) {
  struct stat info;
  int fd = hearth_os_is_device(path) ? os_open_file(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0) : -ENODEV;

  if (fd >= 0 && (os_call3(SYS_fstat, fd, (long)&info, 0) != 0 || !S_ISCHR(info.st_mode))) {
    hearth_os_close(fd);
    return -ENODEV;
  }
  return fd;
}

void hearth_os_truncate(int fd, uint64_t size) { os_call3(SYS_ftruncate, fd, (long)size, 0); }

bool hearth_os_file_id_of(int fd, hearth_os_file_id *ret) {
  struct stat info;

  if (os_call3(SYS_fstat, fd, (long)&info, 0) != 0)
    return false;
  *ret = (hearth_os_file_id){info.st_dev, info.st_ino};
  return true;
}

bool hearth_os_is_file(int fd, hearth_os_file_id id) {
  hearth_os_file_id now;

  return fd >= 0 && hearth_os_file_id_of(fd, &now) && now.device == id.device && now.number == id.number;
}

bool hearth_os_has_reader(int fd) {
  struct stat info;

  return os_call3(SYS_fstat, fd, (long)&info, 0) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

int hearth_os_duplicate(int fd, int least) { return (int)os_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least); }

static uint64_t limit_of(int resource) {
  struct rlimit limit;

  return hearth_os_call(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0) == 0 ? limit.rlim_cur : UINT64_MAX;
}

uint64_t hearth_os_descriptor_limit(void) { return limit_of(RLIMIT_NOFILE); }

uint64_t hearth_os_address_space_limit(char *ret_letter) {
  uint64_t all = limit_of(RLIMIT_AS), writable = limit_of(RLIMIT_DATA);

  *ret_letter = all <= writable ? 'v' : 'd';
  return all <= writable ? all : writable;
}

long hearth_os_read(int fd, void *to, size_t size) { return os_call3(SYS_read, fd, (long)to, (long)size); }

long hearth_os_read_at(int fd, void *to, size_t size, uint64_t offset) {
  return hearth_os_call(SYS_pread64, fd, (long)to, (long)size, (long)offset, 0, 0);
}

long hearth_os_write(int fd, const void *from, size_t size) { return os_call3(SYS_write, fd, (long)from, (long)size); }

long hearth_os_write_at(int fd, const void *from, size_t size, uint64_t offset) {
  return hearth_os_call(SYS_pwrite64, fd, (long)from, (long)size, (long)offset, 0, 0);
}

int hearth_os_close(int fd) { return (int)os_call3(SYS_close, fd, 0, 0); }

int hearth_os_rename(const char *from, const char *to) {
  return (int)hearth_os_call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
}

int hearth_os_rename_new(const char *from, const char *to) {
  int result = (int)hearth_os_call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, RENAME_NOREPLACE, 0);

  if (result != -EINVAL && result != -ENOSYS)
    return result;
  /* A file system that cannot: most have links, though. */
  result = (int)hearth_os_call(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
  if (result == 0)
    hearth_os_unlink(from);
  if (result == 0 || result == -EEXIST)
    return result;
  /* Nor links: an empty file takes the name. */
  int fd = hearth_os_create(to);
  if (fd < 0)
    return fd;
  hearth_os_close(fd);
  return hearth_os_rename(from, to);
}

void hearth_os_unlink(const char *path) { os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0); }

int hearth_os_make_directory(const char *path) { return (int)os_call3(SYS_mkdirat, AT_FDCWD, (long)path, 0777); }

bool hearth_os_working_directory(char *to, size_t size) {
  /* A directory outside the root is reported as "(unreachable)/...". */
  return os_call3(SYS_getcwd, (long)to, (long)size, 0) > 0 && to[0] == '/';
}

/* The kernel, too, copies what it can read, and refuses the rest. Sizes are below those of pipes. */
static bool copy_by_pipe(uintptr_t from, uintptr_t to, size_t size) {
  int ends[2];

  if (os_call3(SYS_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK, 0) != 0)
    return false;
  bool copied = os_call3(SYS_write, ends[1], (long)from, (long)size) == (long)size &&
                os_call3(SYS_read, ends[0], (long)to, (long)size) == (long)size;
  hearth_os_close(ends[0]);
  hearth_os_close(ends[1]);
  return copied;
}

/* Filters of containers may refuse the system call that is made for this; emulators lack it. */
bool hearth_os_peek(uintptr_t address, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)address, size};
  long result = hearth_os_call(SYS_process_vm_readv, hearth_os_pid(), (long)&local, 1, (long)&remote, 1, 0);

  return result == (long)size ||
         ((result == -EPERM || result == -ENOSYS) && copy_by_pipe(address, (uintptr_t)to, size));
}

#define SIGNAL_SET_SIZE 8 /* bytes of the kernel's */

uint64_t hearth_os_block(uint64_t mask) {
  uint64_t old = 0;

  hearth_os_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&old, SIGNAL_SET_SIZE, 0, 0);
  return old;
}

void hearth_os_restore_signals(uint64_t blocked) {
  hearth_os_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, 0, SIGNAL_SET_SIZE, 0, 0);
}

int hearth_os_sigaction(int signal, const hearth_os_action *action, hearth_os_action *ret_old) {
  hearth_kernel_action given = {0}, old;

  if (action) {
    given = (hearth_kernel_action){.handler = action->handler, .flags = action->flags, .mask = action->mask};
    hearth_kernel_add_restorer(&given);
  }
  int result =
      (int)hearth_os_call(SYS_rt_sigaction, signal, action ? (long)&given : 0, (long)&old, SIGNAL_SET_SIZE, 0, 0);
  if (result == 0 && ret_old)
    *ret_old = (hearth_os_action){old.handler, old.flags & ~HEARTH_SA_RESTORER, old.mask};
  return result;
}

bool hearth_os_is_main_thread(void) { return (uint32_t)os_call3(SYS_gettid, 0, 0, 0) == hearth_os_pid(); }

void hearth_os_raise(int signal) { os_call3(SYS_tgkill, hearth_os_pid(), os_call3(SYS_gettid, 0, 0, 0), signal); }

uint64_t hearth_os_pending(void) {
  uint64_t mask = 0;

  os_call3(SYS_rt_sigpending, (long)&mask, SIGNAL_SET_SIZE, 0);
  return mask;
}

bool hearth_os_take_pending(uint64_t mask) {
  struct timespec at_once = {0, 0};

  return hearth_os_call(SYS_rt_sigtimedwait, (long)&mask, 0, (long)&at_once, SIGNAL_SET_SIZE, 0, 0) > 0;
}

void hearth_os_queue(uint32_t pid, int signal, int value) {
  siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};

  info.si_pid = (pid_t)hearth_os_pid();
  info.si_uid = (uid_t)os_call3(SYS_getuid, 0, 0, 0);
  info.si_value.sival_int = value;
  os_call3(SYS_rt_sigqueueinfo, pid, signal, (long)&info);
}

bool hearth_os_signal_stack(void *memory, size_t size) {
  stack_t old, own = {.ss_sp = memory, .ss_size = size};

  return os_call3(SYS_sigaltstack, 0, (long)&old, 0) == 0 && old.ss_flags & SS_DISABLE &&
         os_call3(SYS_sigaltstack, (long)&own, 0, 0) == 0;
}

bool hearth_os_forget_signal_stack(const void *memory) {
  stack_t old, none = {.ss_flags = SS_DISABLE};

  if (os_call3(SYS_sigaltstack, 0, (long)&old, 0) != 0)
    return false;
  return old.ss_sp != memory || os_call3(SYS_sigaltstack, (long)&none, 0, 0) == 0;
}

int hearth_os_exec(const char *path, char *const argv[], char *const environment[]) {
  return (int)os_call3(SYS_execve, (long)path, (long)argv, (long)environment);
}

int hearth_os_exec_at(int directory, const char *path, char *const argv[], char *const environment[], int flags) {
  return (int)hearth_os_call(SYS_execveat, directory, (long)path, (long)argv, (long)environment, flags, 0);
}

uint32_t hearth_os_pid(void) { return (uint32_t)os_call3(SYS_getpid, 0, 0, 0); }

void hearth_os_yield(void) { os_call3(SYS_sched_yield, 0, 0, 0); }

void hearth_os_exit(int code) {
  for (;;)
    os_call3(SYS_exit_group, code, 0, 0);
}

void hearth_os_abort(void) {
  uint64_t only_abort = UINT64_C(1) << (SIGABRT - 1);
  hearth_os_action standard = {0};

  hearth_os_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&only_abort, 0, SIGNAL_SET_SIZE, 0, 0);
  hearth_os_raise(SIGABRT);
  hearth_os_sigaction(SIGABRT, &standard, NULL);
  hearth_os_raise(SIGABRT);
  hearth_os_exit(134);
}

const char *hearth_os_program_path(void) {
  const char *path = (const char *)getauxval(AT_EXECFN);

  return path ? path : "";
}

uintptr_t hearth_os_program_entry(void) { return getauxval(AT_ENTRY); }

size_t hearth_os_command(char *to, size_t size) {
  int fd = hearth_os_open_read("/proc/self/cmdline");
  size_t length = 0;

  for (long got = fd; fd >= 0 && length < size && (got = hearth_os_read(fd, to + length, size - length)) > 0;)
    length += (size_t)got;
  if (fd >= 0)
    hearth_os_close(fd);
  return length;
}

/* Early in the boot, there are no random numbers yet. */
uint64_t hearth_os_random(void) {
  uint64_t number;

  if (os_call3(SYS_getrandom, (long)&number, sizeof number, GRND_NONBLOCK) == (long)sizeof number)
    return number;
  return hearth_os_unix_ns() ^ (uint64_t)hearth_os_pid() << 40 ^ (uintptr_t)&number >> 4;
}

void hearth_os_host_name(char *to, size_t size) {
  struct utsname names;
  size_t i = 0;

  if (os_call3(SYS_uname, (long)&names, 0, 0) == 0)
    for (; i + 1 < size && names.nodename[i]; ++i)
      to[i] = names.nodename[i];
  to[i] = '\0';
}

bool hearth_os_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

#define GROUPS_MOST 1024 /* of more, our thread has none */

static struct {
  uid_t users[3]; /* real, effective, saved */
  gid_t groups[3];
  gid_t others[GROUPS_MOST];
  long others_count;
  bool are_new; /* atomic: set behind the others */
} noted_rights;

void hearth_os_note_rights(void) {
  uid_t *users = noted_rights.users;
  gid_t *groups = noted_rights.groups;

  os_call3(SYS_getresuid, (long)&users[0], (long)&users[1], (long)&users[2]);
  os_call3(SYS_getresgid, (long)&groups[0], (long)&groups[1], (long)&groups[2]);
  noted_rights.others_count = os_call3(SYS_getgroups, GROUPS_MOST, (long)noted_rights.others, 0);
  if (noted_rights.others_count < 0)
    noted_rights.others_count = 0;
  __atomic_store_n(&noted_rights.are_new, true, __ATOMIC_RELEASE);
}

static void take_groups(void) {
  const gid_t *groups = noted_rights.groups;

  os_call3(SYS_setgroups, noted_rights.others_count, (long)noted_rights.others, 0);
  os_call3(SYS_setresgid, groups[0], groups[1], groups[2]);
}

/* Groups can be given up while the user may still change them, and taken back when it may again. Of what changes
 * meanwhile, the next call takes the rest. */
void hearth_os_take_noted_rights(void) {
  const uid_t *users = noted_rights.users;

  if (!__atomic_exchange_n(&noted_rights.are_new, false, __ATOMIC_ACQUIRE))
    return;
  take_groups();
  os_call3(SYS_setresuid, users[0], users[1], users[2]);
  take_groups();
}

static void (*thread_to_run)(void);

/* The kernel gives a process the status of the thread that ends last. What the first thread has given, if it ended
 * alone, is the last number here. */
static int status_of_main(void) {
  char line[1024];
  int fd = hearth_os_open_read("/proc/self/stat");
  long size = hearth_os_read(fd, line, sizeof line), at = size - 2; /* before the line's end */
  unsigned status = 0;

  hearth_os_close(fd);
  while (at > 0 && line[at] >= '0' && line[at] <= '9')
    --at;
  for (++at; at > 0 && at < size && line[at] >= '0' && line[at] <= '9'; ++at)
    status = status * 10 + (unsigned)(line[at] - '0');
  return (int)(status >> 8 & 255);
}

/* Its own table of files leaves the program's to the program's threads alone, as the kernel likes it. */
static int run_thread(void) {
  os_call3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE);
  os_call3(SYS_prctl, PR_SET_TIMERSLACK, 1000, 0);
  os_call3(SYS_prctl, PR_SET_NAME, (long)"hearth", 0);
  thread_to_run();
  return status_of_main();
}

#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS)

/* Of the memory, the stack is below, and what code finds by the thread pointer above: first of all, the pointer itself. */
bool hearth_os_begin_thread(void (*run)(void), void *memory, size_t size) {
  char *middle = (char *)memory + size / 2;
  uintptr_t *thread = (uintptr_t *)(middle + size / 4);

  thread[0] = thread[2] = (uintptr_t)thread;
  thread_to_run = run;
  uint64_t signals = hearth_os_block_signals();
  long result = hearth_kernel_begin_thread(THREAD_FLAGS, middle, thread, run_thread);
  hearth_os_restore_signals(signals);
  return result > 0;
}

/* The C library registers its list of robust locks for each thread; the kernel forgets it when the thread ends. */
bool hearth_os_is_main_alive(void) {
  void *head = NULL;
  size_t size;

  return os_call3(SYS_get_robust_list, hearth_os_pid(), (long)&head, (long)&size) == 0 && head;
}

void hearth_os_sleep(uint64_t ns) {
  struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

  hearth_os_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&time, 0, 0, 0);
}

bool hearth_os_barrier_begin(void) {
  return hearth_os_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

bool hearth_os_barrier(void) {
  return hearth_os_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

/* glibc 2.35 and later: where struct rseq of each thread lies, and how much of it is in use. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define RSEQ_CPU_ID ((intptr_t)4) /* offset of cpu_id in struct rseq; linux/rseq.h */

#define CPUS_MOST 8192u /* of any Linux */

intptr_t hearth_os_cpu_offset;

void hearth_os_cpu_begin(void) {
  if (&__rseq_offset && &__rseq_size && __rseq_size > 0)
    hearth_os_cpu_offset = (intptr_t)__rseq_offset + RSEQ_CPU_ID;
}

/* The file has ranges, in ascending order: the last number counts. */
uint32_t hearth_os_cpu_count(void) {
  char text[256];
  int fd = hearth_os_open_read("/sys/devices/system/cpu/possible");
  long size = fd < 0 ? fd : hearth_os_read(fd, text, sizeof text);
  uint32_t number = 0;

  if (fd >= 0)
    hearth_os_close(fd);
  if (size <= 0 || size == sizeof text)
    return CPUS_MOST;
  for (long i = 0; i < size; ++i)
    number = text[i] >= '0' && text[i] <= '9' ? number * 10 + (uint32_t)(text[i] - '0') : text[i] == '\n' ? number : 0;
  return number < CPUS_MOST ? number + 1 : CPUS_MOST;
}

uint32_t hearth_os_ask_cpu(void) {
  int cpu = sched_getcpu();

  return cpu < 0 ? 0 : (uint32_t)cpu;
}

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now); /* the C library's: it reads the time without entering the kernel */
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t hearth_os_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t hearth_os_thread_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

uint64_t hearth_os_process_ns(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t hearth_os_unix_ns(void) { return read_clock(CLOCK_REALTIME); }

/* /proc/self/maps is read through a small buffer, line by line. */

bool hearth_maps_open(hearth_maps *maps, char *buffer, size_t size) {
  *maps = (hearth_maps){.fd = hearth_os_open_read("/proc/self/maps"), .buffer = buffer, .size = size};
  return maps->fd >= 0;
}

void hearth_maps_close(hearth_maps *maps) { hearth_os_close(maps->fd); }

/* Move the unread bytes to the front and read more behind them. False at the end, or if there is no room. */
static bool maps_refill(hearth_maps *maps) {
  size_t unread = maps->end - maps->begin;

  for (size_t i = 0; i < unread; ++i)
    maps->buffer[i] = maps->buffer[maps->begin + i];
  maps->begin = 0;
  maps->end = unread;
  if (unread == maps->size)
    return false;
  long count;
  do
    count = hearth_os_read(maps->fd, maps->buffer + unread, maps->size - unread);
  while (count == -EINTR);
  if (count <= 0)
    return false;
  maps->end += (size_t)count;
  return true;
}

/* Length of the next line without its newline, as much of it as fits in the buffer; false at the end. */
static bool next_line(hearth_maps *maps, size_t *ret_length) {
  size_t length = 0;

  for (;;) {
    for (; maps->begin + length < maps->end; ++length)
      if (maps->buffer[maps->begin + length] == '\n') {
        *ret_length = length;
        return true;
      }
    if (!maps_refill(maps)) {
      *ret_length = length;
      return length > 0;
    }
  }
}

/* Step over the line of `length` bytes and, if it did not fit, over the rest of it. */
static void skip_line(hearth_maps *maps, size_t length) {
  maps->begin += length;
  do
    while (maps->begin < maps->end)
      if (maps->buffer[maps->begin++] == '\n')
        return;
  while (maps_refill(maps));
}

static uint64_t scan_number(const char **at, const char *end, unsigned base) {
  uint64_t number = 0;

  for (; *at < end; ++*at) {
    char c = **at;
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
    if (digit >= base)
      break;
    number = number * base + digit;
  }
  return number;
}

static void skip_field(const char **at, const char *end) {
  while (*at < end && **at != ' ')
    ++*at;
  while (*at < end && **at == ' ')
    ++*at;
}

/* "start-end rwxp offset major:minor inode     path" */
static hearth_maps_entry scan_line(const char *at, const char *end) {
  hearth_maps_entry entry = {0};

  entry.start = scan_number(&at, end, 16);
  if (at < end)
    ++at;
  entry.end = scan_number(&at, end, 16);
  skip_field(&at, end);
  if (end - at >= 4) {
    entry.readable = at[0] == 'r';
    entry.writable = at[1] == 'w';
    entry.executable = at[2] == 'x';
  }
  skip_field(&at, end);
  entry.file_offset = scan_number(&at, end, 16);
  skip_field(&at, end);
  skip_field(&at, end); /* device */
  entry.inode = scan_number(&at, end, 10);
  skip_field(&at, end);
  entry.path = at;
  entry.path_size = (size_t)(end - at);
  return entry;
}

bool hearth_maps_next(hearth_maps *maps, hearth_maps_entry *ret_entry) {
  if (maps->has_line)
    skip_line(maps, maps->line_size); /* not sooner: its path was the caller's to use */
  maps->has_line = next_line(maps, &maps->line_size);
  if (maps->has_line)
    *ret_entry = scan_line(maps->buffer + maps->begin, maps->buffer + maps->begin + maps->line_size);
  return maps->has_line;
}
