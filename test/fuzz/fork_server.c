/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded into a program, runs it once for each request, in a child that has all libraries loaded and initialised: for opt and
 * small modules, that is most of its time.
 *
 * Request, on standard input: the size of what follows, 4 bytes; the seconds that the run may take, 4 bytes; the child's folder
 * and its arguments, each with a zero byte. Answer, on standard output: the status as of waitpid, 4 bytes. The child's messages
 * are in the file "messages" of its folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_ARGUMENTS = 256 };

typedef int program(int, char **, char **);
static program *real_main;

static bool read_all(void *to, size_t size) {
  for (size_t got = 0; got < size;) {
    ssize_t n = read(STDIN_FILENO, (char *)to + got, size - got);
    if (n <= 0)
      return false;
    got += (size_t)n;
  }
  return true;
}

static void redirect(int stream, const char *path, int flags) {
  int fd = open(path, flags, 0666);
  if (fd < 0 || dup2(fd, stream) < 0)
    _exit(127);
  close(fd);
}

static int run(char *request, const char *end, unsigned seconds, char **environment) {
  char *arguments[MOST_ARGUMENTS + 1] = {0}, *at = request + strlen(request) + 1;
  int count = 0;
  for (; at < end && count < MOST_ARGUMENTS; at += strlen(at) + 1)
    arguments[count++] = at;
  if (chdir(request) != 0)
    _exit(127);
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
  redirect(STDERR_FILENO, "messages", O_WRONLY | O_CREAT | O_TRUNC);
  alarm(seconds);
  return real_main(count, arguments, environment);
}

static int serve(int count, char **arguments, char **environment) {
  static char request[MOST_BYTES + 1];
  uint32_t sizes[2];
  (void)count, (void)arguments;
  while (read_all(sizes, sizeof sizes) && sizes[0] <= MOST_BYTES && read_all(request, sizes[0])) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
      return run(request, request + sizes[0], sizes[1], environment);
    if (child < 0 || waitpid(child, &status, 0) != child ||
        write(STDOUT_FILENO, &status, sizeof status) != sizeof status)
      return 1;
  }
  return 0;
}

typedef int starter(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

__attribute__((visibility("default"))) int __libc_start_main(program *main, int argc, char **argv, void (*init)(void),
                                                             void (*fini)(void), void (*rtld_fini)(void),
                                                             void *stack_end) {
  starter *start = (starter *)dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
