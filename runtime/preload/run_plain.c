/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program is executed anew, before anything of it ran: with its arguments as the kernel has them, also if the dynamic
 * loader was told to run it. */
#include "run_plain.h"

#include "message.h"
#include "os.h"

#include <string.h>

#define ARGUMENTS_MOST ((size_t)8 << 20) /* bytes; the kernel takes at most 6 MiB */

static bool is_same_file(const char *one, const char *other) {
  hearth_os_file_id id;
  int fd = hearth_os_open_read(one), fd_of_other = hearth_os_open_read(other);
  bool same = hearth_os_file_id_of(fd_of_other, &id) && hearth_os_is_file(fd, id);

  if (fd >= 0)
    hearth_os_close(fd);
  if (fd_of_other >= 0)
    hearth_os_close(fd_of_other);
  return same;
}

/* The file that runs; of a script, its interpreter. */
static const char *find_program(void) {
  static const char running[] = "/proc/self/exe";
  const char *path = hearth_os_program_path();

  return is_same_file(path, running) ? path : running;
}

static void execute(char *arguments, size_t size, char **environment) {
  size_t count = 0;

  for (size_t i = 0; i < size; i++)
    count += arguments[i] == '\0';
  char **argv = hearth_os_map(hearth_os_whole_pages((count + 1) * sizeof *argv));
  for (size_t i = 0; argv && i < count; i++, arguments += strlen(arguments) + 1)
    argv[i] = arguments;
  if (argv)
    hearth_os_exec(find_program(), argv, environment);
}

static void tell(void) {
  char letter[2] = "";
  uint64_t limit = hearth_os_address_space_limit(letter);

  if (limit == UINT64_MAX)
    hearth_message("the system has no address space to record in; the program runs unrecorded");
  else
    hearth_message("the address space is limited to %u KiB (ulimit -%s), which is too little to record in; the program "
                   "runs unrecorded",
                   limit / 1024, letter);
}

void hearth_run_plain(char **environment) {
  size_t room = 2 * ARGUMENTS_MOST, size;
  char *arguments = NULL;

  while (!arguments && room > HEARTH_OS_PAGE)
    arguments = hearth_os_map(room /= 2); /* most of the space may be taken already */
  size = arguments ? hearth_os_command(arguments, room) : 0;
  if (size == 0 || size == room)
    return;
  tell();
  execute(arguments, size, environment);
}
