/* Ends as its argument says, after it allocated: 100 blocks of 10007 bytes, freed; 3 of 20014, live; one of 30021 in a thread
 * that ended; so every profile has known totals. With the argument "after" (what an exec leads to) it just ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#undef NDEBUG
#include <assert.h>

static void *volatile kept[3];
static char *self;
static char *const after[] = {"sh", "-c", "exit 7", NULL};

static void *one_block(void *closure) {
  free(malloc(30021));
  return closure;
}

static void work(void) {
  pthread_t thread;

  for (int i = 0; i < 100; ++i)
    free(malloc(10007));
  for (int i = 0; i < 3; ++i)
    kept[i] = malloc(20014);
  pthread_create(&thread, NULL, one_block, NULL);
  pthread_join(thread, NULL);
}

static void *wait_in_thread(void *closure) {
  free(malloc(16));
  for (;;)
    pause();
  return closure;
}

static void *exit_in_thread(void *closure) { exit(closure ? 3 : 7); }

static volatile int *volatile null;

static int overflow(int depth) {
  volatile char space[4096];

  space[0] = (char)depth;
  return overflow(depth + 1) + space[0];
}

static void *overflow_in_thread(void *closure) {
  free(malloc(16));
  return overflow(0) ? closure : NULL;
}

static void crash_handler(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void quiet_handler(int signal_number) { (void)signal_number; }

static void leaving_handler(int signal_number) { _exit(signal_number); }

static void end(const char *way) {
  pthread_t thread;
  struct sigaction action = {.sa_handler = crash_handler};
  extern char **environ;
  const char *sh = "/bin/sh";

  if (strcmp(way, "return") == 0)
    return;
  if (strcmp(way, "exit") == 0)
    exit(7);
  if (strcmp(way, "_exit") == 0)
    _exit(7);
  if (strcmp(way, "_Exit") == 0)
    _Exit(7);
  if (strcmp(way, "quick_exit") == 0)
    quick_exit(7);
  if (strcmp(way, "thread") == 0)
    pthread_exit(NULL);
  if (strcmp(way, "abort") == 0)
    abort();
  if (strcmp(way, "assert") == 0)
    assert(!*way);
  if (strcmp(way, "abort-handled") == 0) {
    signal(SIGABRT, quiet_handler);
    assert(!*way);
  }
  if (strcmp(way, "abort-ignored") == 0) {
    signal(SIGABRT, SIG_IGN);
    abort();
  }
  if (strcmp(way, "live-threads") == 0)
    exit(pthread_create(&thread, NULL, wait_in_thread, NULL) == 0 ? 7 : 3);
  if (strcmp(way, "thread-exits") == 0)
    pthread_create(&thread, NULL, exit_in_thread, NULL), pause();
  if (strcmp(way, "HUP") == 0)
    raise(SIGHUP);
  if (strcmp(way, "FPE") == 0)
    raise(SIGFPE);
  if (strcmp(way, "ALRM") == 0)
    ualarm(1000, 0), pause();
  if (strcmp(way, "RT") == 0)
    raise(SIGRTMIN + 3);
  if (strcmp(way, "RTMAX") == 0)
    kill(getpid(), SIGRTMAX);
  if (strcmp(way, "RT-queued") == 0)
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 1});
  if (strcmp(way, "TERM") == 0)
    kill(getpid(), SIGTERM);
  if (strcmp(way, "INT") == 0)
    kill(getpid(), SIGINT);
  if (strcmp(way, "PIPE") == 0)
    raise(SIGPIPE);
  if (strcmp(way, "XCPU") == 0)
    raise(SIGXCPU);
  if (strcmp(way, "SEGV") == 0)
    *null = 1;
  if (strcmp(way, "TRAP") == 0)
    __asm__ volatile("int3");
  if (strcmp(way, "overflow") == 0)
    exit(overflow(0));
  if (strcmp(way, "thread-overflow") == 0)
    exit(pthread_create(&thread, NULL, overflow_in_thread, NULL) || pthread_join(thread, NULL));
  if (strcmp(way, "crash-handler") == 0) {
    sigaction(SIGSEGV, &action, NULL);
    *null = 1;
  }
  if (strcmp(way, "exit-in-handler") == 0) {
    signal(SIGTERM, leaving_handler);
    raise(SIGTERM);
  }
  if (strcmp(way, "execve") == 0)
    execve(sh, after, environ);
  if (strcmp(way, "execv") == 0)
    execv(sh, after);
  if (strcmp(way, "execvp") == 0)
    execvp("sh", after);
  if (strcmp(way, "execvpe") == 0)
    execvpe("sh", after, environ);
  if (strcmp(way, "execl") == 0)
    execl(sh, "sh", "-c", "exit 7", (char *)NULL);
  if (strcmp(way, "execlp") == 0)
    execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
  if (strcmp(way, "execle") == 0)
    execle(sh, "sh", "-c", "exit $CODE", (char *)NULL, (char *[]){"CODE=7", NULL});
  if (strcmp(way, "fexecve") == 0)
    fexecve(open(sh, O_RDONLY), after, environ);
  if (strcmp(way, "execveat") == 0)
    execveat(AT_FDCWD, sh, after, environ, 0);
  if (strcmp(way, "exec-self") == 0)
    execl(self, self, "after", (char *)NULL);
  if (strcmp(way, "exec-fails") == 0) {
    assert(execvp("/nonexistent", after) == -1);
    free(malloc(40028));
    _exit(7);
  }
  if (strcmp(way, "daemon") == 0) {
    daemon(1, 1);
    free(malloc(40028));
    _exit(7);
  }
  if (strcmp(way, "vfork") == 0) {
    if (vfork() == 0)
      execl("/nonexistent", "x", (char *)NULL), _exit(3);
    wait(NULL);
    _exit(7);
  }
  if (strcmp(way, "fork") == 0 || strcmp(way, "fork-exec") == 0) {
    if (fork() == 0) {
      free(malloc(40028));
      way[4] ? execl("/bin/true", "true", (char *)NULL) : _exit(3);
    }
    wait(NULL);
    _exit(7);
  }
  if (strcmp(way, "spawn") == 0) {
    pid_t child;
    assert(posix_spawn(&child, sh, NULL, NULL, after, environ) == 0 && waitpid(child, NULL, 0) == child);
    _exit(7);
  }
  if (strcmp(way, "system") == 0)
    exit(WEXITSTATUS(system("exit 7")));
}

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};

  setrlimit(RLIMIT_CORE, &no_core);
  self = argv[0];
  if (argc > 1 && strcmp(argv[1], "after") == 0)
    return kept[0] = malloc(50035), 7;
  work();
  end(argv[1]);
  return 7;
}
