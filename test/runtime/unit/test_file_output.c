/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Output files: nothing appears under the final name unless every byte was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file system that fails as told. */
static struct {
  char content[200000];
  size_t size;
  size_t most_per_write; /* short writes */
  size_t capacity;       /* then ENOSPC */
  int interruptions;     /* of the next calls, with EINTR */
  int create_error, close_error, rename_error;
  int taken_names;     /* of the next files that must be new */
  int taken_temporary; /* of the next temporary files */
  char renamed_to[64];
  bool exists, renamed, removed, closed;
  bool is_real; /* the system's instead */
} disk;

static uint64_t fake_random(void) { return 1000 - (uint64_t)disk.taken_temporary; }

static int fake_open_device(const char *path) { return (void)path, -ENODEV; }

static int fake_create(const char *path) {
  if (disk.taken_temporary > 0) {
    disk.taken_temporary--;
    return -EEXIST;
  }
  assert_string_equal(path, "out.1000.tmp");
  disk.exists = !disk.create_error;
  return disk.create_error ? -disk.create_error : 3;
}

static long fake_write_at(int fd, const void *from, size_t size, uint64_t offset) {
  assert_int_equal(fd, 3);
  if (disk.interruptions > 0) {
    --disk.interruptions;
    return -EINTR;
  }
  if (size > disk.most_per_write)
    size = disk.most_per_write;
  if (offset + size > disk.capacity)
    size = disk.capacity > offset ? disk.capacity - offset : 0;
  if (size == 0)
    return -ENOSPC;
  memcpy(disk.content + offset, from, size);
  if (offset + size > disk.size)
    disk.size = offset + size;
  return (long)size;
}

static long fake_write(int fd, const void *from, size_t size) { return fake_write_at(fd, from, size, disk.size); }

static int fake_close(int fd) {
  assert_int_equal(fd, 3);
  disk.closed = true;
  return -disk.close_error;
}

static int fake_rename(const char *from, const char *to) {
  assert_string_equal(from, "out.1000.tmp");
  assert_string_equal(to, "out");
  disk.renamed = !disk.rename_error;
  return -disk.rename_error;
}

static int fake_rename_new(const char *from, const char *to) {
  assert_string_equal(from, "out.1000.tmp");
  if (disk.taken_names-- > 0)
    return -EEXIST;
  strcpy(disk.renamed_to, to);
  disk.renamed = true;
  return 0;
}

static void fake_unlink(const char *path) {
  assert_string_equal(path, "out.1000.tmp");
  disk.removed = true;
}

/* The linker puts these in place of the runtime's own (CMakeLists.txt). */
#define FAKE(type, name, parameters, arguments)                                                                        \
  type __real_hearth_os_##name parameters;                                                                             \
  type __wrap_hearth_os_##name parameters;                                                                             \
  type __wrap_hearth_os_##name parameters {                                                                            \
    return disk.is_real ? __real_hearth_os_##name arguments : fake_##name arguments;                                   \
  }
FAKE(uint64_t, random, (void), ())
FAKE(int, open_device, (const char *path), (path))
FAKE(int, create, (const char *path), (path))
FAKE(long, write, (int fd, const void *from, size_t size), (fd, from, size))
FAKE(long, write_at, (int fd, const void *from, size_t size, uint64_t offset), (fd, from, size, offset))
FAKE(int, close, (int fd), (fd))
FAKE(int, rename, (const char *from, const char *to), (from, to))
FAKE(int, rename_new, (const char *from, const char *to), (from, to))

void __real_hearth_os_unlink(const char *path);
void __wrap_hearth_os_unlink(const char *path);
void __wrap_hearth_os_unlink(const char *path) {
  if (disk.is_real)
    __real_hearth_os_unlink(path);
  else
    fake_unlink(path);
}

static hearth_file_output output;

static int set_up(void **state) {
  (void)state;
  memset(&disk, 0, sizeof disk);
  disk.most_per_write = disk.capacity = sizeof disk.content;
  return 0;
}

/* 100,000 bytes, the first ones written last. */
static int write_file(void) {
  char part[1000];

  hearth_file_output_begin(&output, "out");
  for (int i = 0; i < 100; ++i) {
    memset(part, i, sizeof part);
    hearth_file_output_write(&output, part, sizeof part);
  }
  hearth_file_output_patch(&output, 0, "head", 4);
  return hearth_file_output_finish(&output, true);
}

static void assert_complete(void) {
  assert_true(disk.renamed && disk.closed && !disk.removed);
  assert_int_equal(disk.size, 100000);
  assert_memory_equal(disk.content, "head", 4);
  for (size_t i = 4; i < disk.size; ++i)
    assert_int_equal(disk.content[i], (char)(i / 1000));
}

static void assert_nothing_left(void) { assert_true(!disk.renamed && disk.closed && disk.removed); }

static void test_whole_file(void **state) {
  (void)state;
  assert_int_equal(write_file(), 0);
  assert_complete();
}

static void test_short_and_interrupted_writes(void **state) {
  (void)state;
  disk.most_per_write = 7;
  disk.interruptions = 5;
  assert_int_equal(write_file(), 0);
  assert_complete();
}

static void test_full_disk(void **state) {
  (void)state;
  for (size_t capacity = 0; capacity < 100000; capacity += 9999) {
    set_up(state);
    disk.capacity = capacity;
    assert_int_equal(write_file(), ENOSPC);
    assert_nothing_left();
  }
}

static void test_errors_at_the_end(void **state) {
  (void)state;
  disk.close_error = EDQUOT;
  assert_int_equal(write_file(), EDQUOT);
  assert_nothing_left();
  set_up(state);
  disk.rename_error = EACCES;
  assert_int_equal(write_file(), EACCES);
  assert_nothing_left();
}

static void test_other_files_stay(void **state) {
  (void)state;
  hearth_file_output_begin(&output, "out");
  assert_int_equal(hearth_file_output_finish(&output, false), 0);
  assert_string_equal(disk.renamed_to, "out");
  set_up(state);
  disk.taken_names = 10;
  hearth_file_output_begin(&output, "out");
  assert_int_equal(hearth_file_output_finish(&output, false), 0);
  assert_string_equal(disk.renamed_to, "out.11");
  assert_string_equal(output.name, "out.11");
}

static void test_temporary_names(void **state) {
  (void)state;
  disk.taken_temporary = 3;
  assert_int_equal(write_file(), 0);
  assert_complete();
  set_up(state);
  disk.taken_temporary = 1000000; /* not for ever */
  assert_int_equal(write_file(), EEXIST);
}

/* Processes of one number, in two containers, write to one folder at a time. Nor is a file under a name that can be
 * guessed written to. */
static void test_equal_names(void **state) {
  static hearth_file_output outputs[2];
  char folder[] = "/tmp/hearth-XXXXXX", name[64], content[8], planted[72];
  struct stat info;

  (void)state;
  disk.is_real = true;
  assert_non_null(mkdtemp(folder));
  snprintf(name, sizeof name, "%s/out", folder);
  snprintf(planted, sizeof planted, "%s.tmp", name);
  assert_int_equal(mkfifo(planted, 0666), 0);
  for (int i = 0; i < 2; i++)
    hearth_file_output_begin(&outputs[i], name);
  for (int i = 0; i < 2; i++)
    hearth_file_output_write(&outputs[i], i == 0 ? "first" : "other", 5);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(hearth_file_output_finish(&outputs[i], false), 0);
    assert_true(stat(outputs[i].name, &info) == 0 && S_ISREG(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0600);
    FILE *file = fopen(outputs[i].name, "re");
    assert_non_null(file);
    assert_int_equal(fread(content, 1, sizeof content, file), 5);
    assert_memory_equal(content, i == 0 ? "first" : "other", 5);
    fclose(file);
    assert_int_equal(unlink(outputs[i].name), 0);
  }
  assert_int_equal(unlink(planted), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing else is left */
}

static void test_cannot_create(void **state) {
  (void)state;
  disk.create_error = ENOENT;
  assert_int_equal(write_file(), ENOENT);
  assert_true(!disk.renamed && !disk.removed && !disk.closed);
}

static void test_name_too_long(void **state) {
  (void)state;
  static char name[HEARTH_OUTPUT_NAME];

  memset(name, 'x', sizeof name - 1);
  hearth_file_output_begin(&output, name);
  hearth_file_output_write(&output, "x", 1);
  assert_int_equal(hearth_file_output_finish(&output, true), ENAMETOOLONG);
  assert_false(disk.exists);
}

static void test_padding(void **state) {
  (void)state;
  hearth_file_output_begin(&output, "out");
  hearth_file_output_pad(&output);
  assert_int_equal(output.size, 0);
  hearth_file_output_write(&output, "abc", 3);
  hearth_file_output_pad(&output);
  assert_int_equal(output.size, 8);
  assert_int_equal(hearth_file_output_finish(&output, true), 0);
  assert_memory_equal(disk.content, "abc\0\0\0\0\0", 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_whole_file, set_up),
      cmocka_unit_test_setup(test_short_and_interrupted_writes, set_up),
      cmocka_unit_test_setup(test_full_disk, set_up),
      cmocka_unit_test_setup(test_errors_at_the_end, set_up),
      cmocka_unit_test_setup(test_other_files_stay, set_up),
      cmocka_unit_test_setup(test_temporary_names, set_up),
      cmocka_unit_test_setup(test_equal_names, set_up),
      cmocka_unit_test_setup(test_cannot_create, set_up),
      cmocka_unit_test_setup(test_name_too_long, set_up),
      cmocka_unit_test_setup(test_padding, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
