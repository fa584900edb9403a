/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages are put together in a buffer of bounded size and written by one system call. A file is collected in a buffer
 * and written in large pieces; the first error is kept, and later writes do nothing. */
#define _GNU_SOURCE /* strerrordesc_np */
#include "output.h"

#include "os.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

hearth_text hearth_text_begin(char *buffer, size_t size) {
  buffer[0] = '\0';
  return (hearth_text){buffer, size, 0, false};
}

void hearth_text_add_bytes(hearth_text *text, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (text->length + 1 >= text->size) {
      text->cut = true;
      break;
    }
    text->start[text->length++] = bytes[i];
  }
  text->start[text->length] = '\0';
}

void hearth_text_add(hearth_text *text, const char *string) {
  size_t length = 0;

  while (string[length])
    ++length;
  hearth_text_add_bytes(text, string, length);
}

static void add_number(hearth_text *text, uint64_t number, unsigned base) {
  char digits[20];
  size_t first = sizeof digits;

  do {
    digits[--first] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number);
  hearth_text_add_bytes(text, digits + first, sizeof digits - first);
}

static void add_formatted(hearth_text *text, const char *format, va_list *arguments) {
  for (; *format; ++format) {
    if (*format != '%') {
      hearth_text_add_bytes(text, format, 1);
      continue;
    }
    switch (*++format) {
    case 's':
      hearth_text_add(text, va_arg(*arguments, const char *));
      break;
    case 'u':
      add_number(text, va_arg(*arguments, uint64_t), 10);
      break;
    case '%':
      hearth_text_add(text, "%");
      break;
    case 'x':
      hearth_text_add(text, "0x");
      add_number(text, va_arg(*arguments, uint64_t), 16);
      break;
    }
  }
}

void hearth_text_format(hearth_text *text, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  add_formatted(text, format, &arguments);
  va_end(arguments);
}

bool hearth_message_is_new(int *told, int error) {
  bool is_new = error != *told;

  *told = error;
  return is_new;
}

const char *hearth_error_name(int error) {
  const char *name = strerrordesc_np(error); /* allocates nothing, and knows no language */

  return name ? name : "error";
}

/* -- files ------------------------------------------------------------------------------------------------------------ */

#define NAMES_MOST 100 /* tries for a temporary name: others can hardly have planted a file under one of them */

/* A file that is there is another process's, perhaps one of the same number in another container, or a trap. */
static int create_temporary(hearth_file_output *output) {
  int fd = -EEXIST;

  for (unsigned i = 0; fd == -EEXIST && i < NAMES_MOST; i++) {
    hearth_text temporary = hearth_text_begin(output->temporary, sizeof output->temporary);
    hearth_text_format(&temporary, "%s.%u.tmp", output->name, hearth_os_random() % UINT64_C(1000000000000));
    fd = temporary.cut ? -ENAMETOOLONG : hearth_os_create(output->temporary);
  }
  return fd;
}

void hearth_file_output_begin(hearth_file_output *output, const char *name) {
  hearth_text final = hearth_text_begin(output->name, sizeof output->name);

  output->used = 0;
  output->size = 0;
  hearth_text_add(&final, name);
  output->fd = final.cut ? -ENAMETOOLONG : hearth_os_open_device(output->name);
  output->is_device = output->fd >= 0;
  if (output->fd == -ENODEV)
    output->fd = create_temporary(output);
  output->error = output->fd < 0 ? -output->fd : 0;
}

/* The result of a write: how many bytes it wrote; *ret_error is set if it is the last one. */
static size_t progress(long result, int *ret_error) {
  if (result > 0)
    return (size_t)result;
  if (result != -EINTR)
    *ret_error = result < 0 ? (int)-result : EIO;
  return 0;
}

int hearth_file_write_all(int fd, const void *from, size_t size) {
  int error = 0;

  for (size_t done = 0; done < size && !error;)
    done += progress(hearth_os_write(fd, (const char *)from + done, size - done), &error);
  return error;
}

static void output_flush(hearth_file_output *output) {
  if (!output->error)
    output->error = hearth_file_write_all(output->fd, output->buffer, output->used);
  output->used = 0;
}

void hearth_file_output_write(hearth_file_output *output, const void *data, size_t size) {
  const char *from = data;

  output->size += size;
  while (size > 0 && !output->error) {
    if (output->used == sizeof output->buffer)
      output_flush(output);
    size_t room = sizeof output->buffer - output->used;
    size_t part = size < room ? size : room;
    memcpy(output->buffer + output->used, from, part);
    output->used += part;
    from += part;
    size -= part;
  }
}

void hearth_file_output_patch(hearth_file_output *output, uint64_t offset, const void *data, size_t size) {
  const char *from = data;

  if (!output->error)
    output_flush(output);
  for (size_t done = 0; done < size && !output->error;)
    done += progress(hearth_os_write_at(output->fd, from + done, size - done, offset + done), &output->error);
}

void hearth_file_output_pad(hearth_file_output *output) {
  static const char zeros[8];

  hearth_file_output_write(output, zeros, (size_t)(-output->size % 8));
}

/* Give the file its name, or the first like it that is free. */
static int publish_new(hearth_file_output *output) {
  size_t length = strlen(output->name);
  int result = hearth_os_rename_new(output->temporary, output->name);

  for (uint64_t number = 2; result == -EEXIST; ++number) {
    output->name[length] = '\0';
    hearth_text name = {output->name, sizeof output->name, length, false};
    hearth_text_format(&name, ".%u", number);
    result = name.cut ? -ENAMETOOLONG : hearth_os_rename_new(output->temporary, output->name);
  }
  return result;
}

int hearth_file_output_finish(hearth_file_output *output, bool replace) {
  if (output->fd < 0)
    return output->error;
  if (!output->error)
    output_flush(output);
  int closed = hearth_os_close(output->fd);
  /* Network file systems and quotas report here. An interrupted close has closed. */
  if (!output->error && closed < 0 && closed != -EINTR)
    output->error = -closed;
  if (output->is_device)
    return output->error;
  if (!output->error) {
    int renamed = replace ? hearth_os_rename(output->temporary, output->name) : publish_new(output);
    output->error = renamed < 0 ? -renamed : 0;
  }
  if (output->error)
    hearth_os_unlink(output->temporary);
  return output->error;
}

/* The highest numbers that the limit allows, but for a few, of a table that the kernel keeps small. */

/* Programs use low numbers. More of them than this would cost the kernel memory. */
#define LIMIT_MOST 1024

int hearth_own_descriptor_copy(int fd) {
  uint64_t limit = hearth_os_descriptor_limit();
  int copy = -1;

  if (limit > LIMIT_MOST)
    limit = LIMIT_MOST;
  for (int least = (int)(limit - limit / 32); copy < 0 && least > 2; least /= 2)
    copy = hearth_os_duplicate(fd, least);
  return copy < 0 ? -1 : copy;
}

int hearth_own_descriptor_move(int fd) {
  int copy = fd < 0 ? -1 : hearth_own_descriptor_copy(fd);

  if (copy < 0)
    return fd;
  hearth_os_close(fd);
  return copy;
}

/* -- messages --------------------------------------------------------------------------------------------------------- */

/* The runtime keeps a descriptor of its own, close-on-exec. Programs close descriptors that they do not know, and may
 * then have another file under its number: each use first checks for both. */

static struct {
  hearth_os_file_id id;
  bool begun, known;
  int own; /* -1: none */
} standard_error = {.own = -1};

void hearth_message_file_begin(void) {
  if (standard_error.begun) /* the runtime and the allocator are in one static program */
    return;
  standard_error.begun = true;
  standard_error.known = hearth_os_file_id_of(2, &standard_error.id);
  standard_error.own = standard_error.known ? hearth_own_descriptor_copy(2) : -1;
}

static bool is_standard_error(int fd) { return standard_error.known && hearth_os_is_file(fd, standard_error.id); }

/* A process that reads the pipe to its end must not wait for a child that became a daemon. */
void hearth_message_file_begin_child(void) {
  if (!is_standard_error(standard_error.own) || !hearth_os_has_reader(standard_error.own))
    return;
  hearth_os_close(standard_error.own);
  standard_error.own = -1;
}

/* A descriptor of the standard error of the start; before hearth_message_file_begin, 2. -1: there is none any more,
 * or was none. */
static int message_file(void) {
  if (!standard_error.begun || is_standard_error(2))
    return 2;
  return is_standard_error(standard_error.own) ? standard_error.own : -1;
}

static void send(const char *bytes, size_t size) {
  hearth_own_writes before = hearth_own_writes_begin(0);

  hearth_file_write_all(message_file(), bytes, size); /* a message about its error would go there too */
  hearth_own_writes_end(before);
}

void hearth_message(const char *format, ...) {
  char buffer[1024];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer - 1); /* room for the newline */
  va_list arguments;

  hearth_text_add(&text, "hearth: ");
  va_start(arguments, format);
  add_formatted(&text, format, &arguments);
  va_end(arguments);
  buffer[text.length++] = '\n';
  send(buffer, text.length);
}
