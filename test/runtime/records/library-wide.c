/* Wide characters count by their size, and messages by the ranges that they are of.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -g -fno-builtin -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize TotalAccessCount | FileCheck %s
 *
 * wcscpy of 21 wide characters: 11; wcslen: 11; wcsnlen of 4: 2; wcscmp to the 20th: 10; wcsncmp of 6: 3; wcscat that makes 26: 13.
 * CHECK: AllocCount=1 MinSize=401 TotalAccessCount=50
 * wmemset of 50: 25; wmemcpy of 20: 10; wcsncpy of 12, of which its source has 7: 6.
 * CHECK: AllocCount=1 MinSize=402 TotalAccessCount=41
 * sendmsg of 40 and 24: 8.
 * CHECK: AllocCount=1 MinSize=403 TotalAccessCount=8
 * recvmsg of 64, of which the first range takes 16: 8.
 * CHECK: AllocCount=1 MinSize=404 TotalAccessCount=8
 * A message that is not sent: 0.
 * CHECK: AllocCount=1 MinSize=405 TotalAccessCount=0
 *
 * Not where they have another size:
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -fno-builtin -fshort-wchar -S -emit-llvm %s -o - | FileCheck %s --check-prefix=SHORT
 * SHORT-NOT: @__hearth_count_wide_string
 * SHORT-NOT: @__hearth_count_compared
 * SHORT: @__hearth_count_message
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <wchar.h>

static void check(int holds) {
  if (!holds)
    abort();
}

static ssize_t transfer(int file, char *first, size_t first_size, char *second, size_t second_size, int receives) {
  struct iovec ranges[] = {{first, first_size}, {second, second_size}};
  struct msghdr message = {.msg_iov = ranges, .msg_iovlen = 2};
  return receives ? recvmsg(file, &message, 0) : sendmsg(file, &message, MSG_NOSIGNAL);
}

int main(void) {
  int ends[2];
  wchar_t *string = malloc(401);
  wcscpy(string, L"twenty characters, 2");
  check(wcslen(string) == 20);
  check(wcsnlen(string, 4) == 4);
  check(wcscmp(string, L"twenty characters, 3") < 0);
  check(wcsncmp(string, L"twenty", 6) == 0);
  wcscat(string, L" more");

  wchar_t *wide = malloc(402);
  wmemset(wide, L'x', 50);
  wmemcpy(wide, L"twenty characters, 2", 20);
  wcsncpy(wide, L"twelve", 12);

  char *sent = malloc(403), *received = malloc(404), *unsent = malloc(405);
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  check(transfer(ends[0], sent, 40, sent + 40, 24, 0) == 64);
  check(transfer(ends[1], received, 16, received + 16, 300, 1) == 64);
  check(transfer(-1, unsent, 100, unsent + 100, 100, 0) == -1);
  free(string);
  free(wide);
  free(sent);
  free(received);
  free(unsent);
  return 0;
}
