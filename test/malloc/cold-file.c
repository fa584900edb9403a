/* HEARTH_MALLOC=cold=file: cold bytes leave memory, and come back as they were, without their neighbours; forked processes do not see what the
 * other writes, neither what was allocated before nor after, and go on with files of their own; freed memory is given
 * back and reads as zero, and its place on the disk stays reserved. Where no file can be had, a warning says why, and cold blocks stay in memory.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=cold=file:interval=1:cost=off:dir=%t.dir timeout 600 %t out fork out fork out fork | FileCheck %s --check-prefix=FILE
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir timeout 600 %t zero fork zero | FileCheck %s --check-prefix=ZERO
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir timeout 600 %t lost 2>&1 | FileCheck %s --check-prefix=LOST
 * RUN: env HEARTH_MALLOC=cold=file:dir=%t.dir/none timeout 600 %t zero 2>&1 | FileCheck %s --check-prefix=NONE
 * RUN: env HEARTH_MALLOC=cold=file:dir=/dev/shm timeout 600 %t zero 2>&1 | FileCheck %s --check-prefix=SHM
 * RUN: (ulimit -f 1000; HEARTH_MALLOC=cold=file:dir=%t.dir timeout 600 %t zero 2>&1) | FileCheck %s --check-prefix=LIMIT
 * RUN: ls %t.dir | count 0
 *
 * FILE: 16 MiB out of memory, contents kept
 * FILE-NEXT: parent and child apart
 * FILE-NEXT: 16 MiB out of memory, contents kept
 * FILE-NEXT: parent and child apart
 * FILE-NEXT: 16 MiB out of memory, contents kept
 * FILE-NEXT: parent and child apart
 * FILE-NEXT: 0 live
 * ZERO: reused memory is zero
 * ZERO: parent and child apart
 * ZERO: reused memory is zero
 * LOST: hearth malloc: the program closed the file of cold memory: no more cold blocks
 * LOST-NEXT: cold before, other after, 2 untouched bytes
 * NONE: hearth malloc: cold memory stays: cold=file needs a directory on a disk (dir=PATH), but {{.*}}/none takes no file
 * NONE: reused memory is zero
 * SHM: but /dev/shm is in memory itself
 * SHM: reused memory is zero
 * LIMIT: takes no file of this size
 * LIMIT: reused memory is zero
 */
#undef NDEBUG
#define _GNU_SOURCE
#include "Inputs/cold_rounds.h"

#include <assert.h>
#include <fcntl.h>
#include <hearth/malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 16 << 20, PAGES = BYTES / 4096 };

/* Freed at the end: what is freed before a fork is private memory afterwards, which stays. */
static char *kept[30];
static int kept_count;

static char *keep(char *block) { return kept[kept_count++] = block; }

static char *cold_block(char fill) {
  char *block = malloc_hot_cold(BYTES, 0);
  assert(hearth_malloc_class(block) == HEARTH_MALLOC_COLD);
  memset(block, fill, BYTES);
  return block;
}

static void check(const char *block, char fill) {
  for (int i = 0; i < BYTES; i++)
    assert(block[i] == fill);
}

static int resident_pages(char *block) {
  static unsigned char in_memory[PAGES];
  int pages = 0;
  assert(!mincore(block, BYTES, in_memory));
  for (int i = 0; i < PAGES; i++)
    pages += in_memory[i] & 1;
  return pages;
}

static void leave_memory(void) {
  char *block = keep(cold_block('a'));
  for (int round = 0; resident_pages(block) > PAGES / 10; round++) {
    assert(round < 1000); /* pages that were being written stay for some rounds */
    cold_round();
  }
  int pages = resident_pages(block);
  assert(block[BYTES / 2] == 'a' && resident_pages(block) <= pages + 16);
  check(block, 'a');
  puts("16 MiB out of memory, contents kept");
}

static void wait_for(int end) {
  char byte;
  assert(read(end, &byte, 1) == 1);
}

static void child_part(char *before, int from_parent, int to_parent) {
  memset(before, 'c', BYTES / 2);
  char *after = cold_block('d');
  assert(write(to_parent, "", 1) == 1);
  wait_for(from_parent);
  for (int i = 0; i < BYTES; i++)
    assert(before[i] == (i < BYTES / 2 ? 'c' : 'b'));
  check(after, 'd');
  free(before);
  free(after);
}

/* Both write to what both have and to new blocks, before either looks. */
static void fork_apart(void) {
  int to_child[2], to_parent[2], status;
  char *before = keep(cold_block('b'));
  fflush(stdout);
  assert(!pipe(to_child) && !pipe(to_parent));
  pid_t child = fork();
  assert(child >= 0);
  if (child == 0) {
    child_part(before, to_child[0], to_parent[1]);
    _exit(0);
  }
  memset(before + BYTES / 2, 'e', BYTES / 2);
  char *after = keep(cold_block('f'));
  assert(write(to_child[1], "", 1) == 1);
  wait_for(to_parent[0]);
  for (int i = 0; i < BYTES; i++)
    assert(before[i] == (i < BYTES / 2 ? 'b' : 'e'));
  check(after, 'f');
  assert(waitpid(child, &status, 0) == child && status == 0);
  puts("parent and child apart");
}

/* A page of the file without a block of the disk would be SIGBUS when the disk is full. */
static void check_blocks_of_disk(void) {
  char line[4096];
  struct stat file;
  unsigned long start, end, mapped = 0, inode = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "/hearth-cold-") && strstr(line, "rw-s")) {
      assert(sscanf(line, "%lx-%lx %*s %*s %*s %lu", &start, &end, &inode) == 3);
      mapped += end - start;
    }
  fclose(maps);
  for (int i = 3; inode && i < 1000; i++)
    if (!fstat(i, &file) && file.st_ino == inode)
      assert((unsigned long)file.st_blocks * 512 >= mapped);
}

static void read_zeroes(void) {
  for (int round = 0; round < 4; round++) {
    free(cold_block('z'));
    char *block = calloc_hot_cold(BYTES, 3, 0);
    for (size_t i = 0; i < (size_t)BYTES * 3; i++)
      assert(!block[i]);
    memset(block, 'z', (size_t)BYTES * 3);
    free(block);
  }
  char *around[8];
  for (int i = 0; i < 8; i++) {
    around[i] = memset(malloc_hot_cold(BYTES - (1 << 20), 0), 'y', BYTES - (1 << 20));
    keep(malloc_hot_cold(1 << 20, 0));
  }
  for (int i = 0; i < 8; i++)
    free(around[i]);
  check_blocks_of_disk();
  puts("reused memory is zero");
}

/* A program that closes all it does not know, and gets the same descriptors again. */
static void lose_file(void) {
  char bytes[2] = {0}, path[] = "/tmp/malloc-XXXXXX";
  char *before = cold_block('l');
  for (int i = 3; i < 1000; i++)
    close(i);
  int own = mkstemp(path);
  unlink(path);
  assert(write(own, "ab", 2) == 2);
  for (int i = own + 1; i < 300; i++)
    dup2(own, i);
  char *after = malloc_hot_cold(BYTES, 0);
  check(before, 'l');
  assert(pread(own, bytes, 2, 0) == 2 && !memcmp(bytes, "ab", 2));
  static const char *const names[] = {"other", "cold", "hot"};
  printf("%s before, %s after, %d untouched bytes\n", names[hearth_malloc_class(before)],
         names[hearth_malloc_class(after)], (int)lseek(own, 0, SEEK_END));
  free(before);
  free(after);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "out"))
      leave_memory();
    else if (!strcmp(argv[i], "fork"))
      fork_apart();
    else if (!strcmp(argv[i], "zero"))
      read_zeroes();
    else
      lose_file();
  }
  for (int i = 0; i < kept_count; i++)
    free(kept[i]);
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  printf("%d live\n", (int)stats.cold.live_blocks);
  return 0;
}
