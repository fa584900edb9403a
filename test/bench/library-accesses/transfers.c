/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block for each way to read and write files and sockets, allocated by a function of that name. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 20000, FIRST = 5000 };

#define MAKE(name)                                                                                                     \
  __attribute__((noinline)) static char *make_##name(void) { return memset(malloc(BYTES), 'x', BYTES); }

/* clang-format off */
MAKE(write) MAKE(read) MAKE(pwrite) MAKE(pread) MAKE(writev) MAKE(readv) MAKE(sendmsg) MAKE(recvmsg) MAKE(send) MAKE(recv)
MAKE(fwrite) MAKE(fread) MAKE(fputs) MAKE(fgets) MAKE(snprintf) MAKE(fprintf)
MAKE(fwrite_unlocked) MAKE(fread_unlocked) MAKE(fputs_unlocked) MAKE(fgets_unlocked)
    /* clang-format on */

    static void check(int holds) {
  if (!holds)
    abort();
}

static struct iovec *ranges_of(char *block) {
  static struct iovec ranges[2];
  ranges[0] = (struct iovec){block, FIRST};
  ranges[1] = (struct iovec){block + FIRST, BYTES - FIRST};
  return ranges;
}

int main(void) {
  char path[] = "/tmp/transfers.XXXXXX";
  int ends[2], file = mkstemp(path);
  char *from, *to;

  check(file >= 0 && unlink(path) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  from = make_write();
  to = make_read();
  for (int i = 0; i < 10; i++)
    check(write(ends[0], from, 16000) == 16000 && read(ends[1], to, BYTES) == 16000);
  from = make_pwrite();
  to = make_pread();
  for (int i = 0; i < 10; i++)
    check(pwrite(file, from, 10000, 0) == 10000 && pread(file, to, BYTES, 0) == 10000);
  from = make_writev();
  to = make_readv();
  for (int i = 0; i < 10; i++)
    check(writev(ends[0], ranges_of(from), 2) == BYTES && readv(ends[1], ranges_of(to), 2) == BYTES);
  struct msghdr message = {.msg_iovlen = 2};
  from = make_sendmsg();
  to = make_recvmsg();
  for (int i = 0; i < 10; i++) {
    message.msg_iov = ranges_of(from);
    check(sendmsg(ends[0], &message, 0) == BYTES);
    message.msg_iov = ranges_of(to);
    check(recvmsg(ends[1], &message, 0) == BYTES);
  }
  from = make_send();
  to = make_recv();
  for (int i = 0; i < 10; i++)
    check(send(ends[0], from, 12000, 0) == 12000 && recv(ends[1], to, 12000, 0) == 12000);

  FILE *stream = tmpfile();
  from = make_fwrite();
  to = make_fread();
  for (int i = 0; i < 10; i++) {
    rewind(stream);
    check(fwrite(from, 100, 150, stream) == 150);
    rewind(stream);
    check(fread(to, 100, 120, stream) == 120);
  }
  from = make_fputs();
  to = make_fgets();
  from[BYTES - 2] = '\n';
  from[BYTES - 1] = 0;
  for (int i = 0; i < 10; i++) {
    rewind(stream);
    check(fputs(from, stream) >= 0);
    rewind(stream);
    check(fgets(to, BYTES, stream) == to);
  }
  from = make_fprintf();
  to = make_snprintf();
  from[BYTES - 1] = 0;
  for (int i = 0; i < 10; i++) {
    rewind(stream);
    check(fprintf(stream, "%s %d", from, i) == BYTES + 1 && snprintf(to, BYTES, "%*d", 15000, i) == 15000);
  }
  from = make_fwrite_unlocked();
  to = make_fread_unlocked();
  for (int i = 0; i < 10; i++) {
    rewind(stream);
    check(fwrite_unlocked(from, 10, 1400, stream) == 1400);
    rewind(stream);
    check(fread_unlocked(to, 10, 1300, stream) == 1300);
  }
  from = make_fputs_unlocked();
  to = make_fgets_unlocked();
  from[BYTES - 2] = '\n';
  from[BYTES - 1] = 0;
  for (int i = 0; i < 10; i++) {
    rewind(stream);
    check(fputs_unlocked(from, stream) >= 0);
    rewind(stream);
    check(fgets_unlocked(to, BYTES, stream) == to);
  }
  return 0;
}
