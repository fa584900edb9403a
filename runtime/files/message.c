/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages are put together in a buffer of bounded size and written by one system call. */
#define _GNU_SOURCE /* strerrordesc_np */
#include "message.h"
#include "file_output.h"
#include "os.h"

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
