/* Threads that free each other's blocks, forks that end in every way, signal handlers that allocate, libraries that come
 * and go, dumps meanwhile: each process's profile has as many blocks of each size as the process counted itself.
 *
 * Seconds: HEARTH_STRESS_SECONDS, or 3.
 *
 * RUN: %clang -shared -fPIC -DLIBRARY -fno-builtin -fno-optimize-sibling-calls -O1 -fno-omit-frame-pointer %s -o %t.so
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/p timeout -k 5 900 %t %t.so %t.dir/counts
 * RUN: python3 %S/../Inputs/stress.py %t.dir | FileCheck %s
 *
 * Blocks that are not sampled take a way of their own; nothing counts them.
 * RUN: rm -rf %t.sampled && mkdir %t.sampled
 * RUN: HEARTH_OPTIONS=log_path=%t.sampled/p:sample=100000 timeout -k 5 900 %t %t.so %t.sampled/counts
 *
 * CHECK: {{[1-9][0-9]+}} processes, {{[1-9][0-9]+}} blocks, 0 wrong
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *allocate_function(size_t size);

#ifdef LIBRARY
void *library_allocate(size_t size) { return malloc(size); }
#else

#define THREADS 4
#define SLOTS   64
#define SIZES   8

/* Sizes that nothing else uses; each has its own call of malloc, so that each context has one size. */
static const size_t sizes[SIZES] = {37, 263, 1009, 2003, 4099, 40009, 1237, 2411};
static uint64_t counts[SIZES];
static void *slots[SLOTS], *handler_slot;
static volatile int stop;
static const char *library, *counts_file;

#define NOINLINE __attribute__((noinline))

NOINLINE static void *allocate_37(void) { return malloc(37); }
NOINLINE static void *allocate_263(void) { return calloc(1, 263); }
NOINLINE static void *allocate_1009(void) { return malloc(1009); }
NOINLINE static void *allocate_2003(void) { return memalign(256, 2003); }
NOINLINE static void *allocate_4099(void) { return realloc(NULL, 4099); }
NOINLINE static void *allocate_40009(void) { return malloc(40009); }

static void *allocate(int which) {
  static void *(*const functions[])(void) = {allocate_37,   allocate_263,  allocate_1009,
                                             allocate_2003, allocate_4099, allocate_40009};

  return functions[which]();
}

static void count(int which) { __atomic_fetch_add(&counts[which], 1, __ATOMIC_RELAXED); }

static void *work(void *closure) {
  unsigned seed = (unsigned)(uintptr_t)closure;

  while (!stop) {
    int which = rand_r(&seed) % 6;
    void *block = allocate(which);
    count(which);
    free(__atomic_exchange_n(&slots[rand_r(&seed) % SLOTS], block, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

static void on_alarm(int signal_number) {
  (void)signal_number;
  void *block = malloc(1237);
  count(6);
  free(__atomic_exchange_n(&handler_slot, block, __ATOMIC_ACQ_REL));
  free(__atomic_exchange_n(&slots[0], NULL, __ATOMIC_ACQ_REL));
}

static void block_alarms(int how) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(how, &set, NULL);
}

static void start_alarms(void) {
  const struct itimerval often = {{0, 500}, {0, 500}};

  setitimer(ITIMER_REAL, &often, NULL);
}

static void use_library(void) {
  void *handle = dlopen(library, RTLD_NOW);
  allocate_function *function = handle ? (allocate_function *)dlsym(handle, "library_allocate") : NULL;

  if (!function)
    _exit(99);
  free(function(2411));
  count(7);
  dlclose(handle);
}

/* Nothing allocates any more. One line a process; O_APPEND keeps them apart. */
static void write_counts(void) {
  char line[400];
  int length = snprintf(line, sizeof line, "%d", (int)getpid());
  int fd = open(counts_file, O_WRONLY | O_CREAT | O_APPEND, 0666);

  for (int i = 0; i < SIZES; ++i)
    length +=
        snprintf(line + length, sizeof line - (size_t)length, " %zu=%llu", sizes[i], (unsigned long long)counts[i]);
  line[length++] = '\n';
  if (write(fd, line, (size_t)length) != length)
    _exit(98);
  close(fd);
}

static void child(unsigned number) {
  memset(counts, 0, sizeof counts);
  start_alarms();
  unsigned seed = number;
  for (int i = 0; i < 2000; ++i) {
    int which = rand_r(&seed) % 6;
    void *block = allocate(which);
    count(which);
    free(__atomic_exchange_n(&slots[rand_r(&seed) % SLOTS], block, __ATOMIC_ACQ_REL));
  }
  use_library();
  block_alarms(SIG_BLOCK);
  write_counts();
  switch (number % 6) {
  case 0:
    exit(0);
  case 1:
    _exit(0);
  case 2:
    raise(SIGTERM);
    break;
  case 3:
    abort();
  case 4:
    execlp("true", "true", (char *)NULL);
    break;
  default:
    quick_exit(0);
  }
  _exit(97);
}

static int is_expected(unsigned number, int status) {
  if (number % 6 == 2)
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
  if (number % 6 == 3)
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void fork_children(time_t end) {
  for (unsigned number = 0; number < 12 || time(NULL) < end; ++number) {
    int status;
    /* The counts must be those of the moment of the fork: none, as the child starts anew. */
    block_alarms(SIG_BLOCK);
    pid_t pid = fork();
    if (pid == 0) {
      block_alarms(SIG_UNBLOCK);
      child(number);
    }
    block_alarms(SIG_UNBLOCK);
    while (waitpid(pid, &status, 0) != pid)
      ;
    if (!is_expected(number, status)) {
      fprintf(stderr, "child %u: status %x\n", number, (unsigned)status);
      _exit(96);
    }
    use_library();
    kill(getpid(), 61);
  }
}

int main(int argc, char **argv) {
  const char *seconds = getenv("HEARTH_STRESS_SECONDS");
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  pthread_t threads[THREADS];

  if (argc != 3)
    return 1;
  library = argv[1];
  counts_file = argv[2];
  sigaction(SIGALRM, &action, NULL);
  start_alarms();
  for (uintptr_t i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  fork_children(time(NULL) + (seconds ? atoi(seconds) : 3));
  stop = 1;
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  block_alarms(SIG_BLOCK);
  write_counts();
  return 0;
}
#endif
