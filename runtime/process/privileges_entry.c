/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions by which a program gives up rights: the runtime's own thread gives them up, too. They are the C
 * library's in all else. */
#define _GNU_SOURCE /* RTLD_NEXT, setresuid */
#include "dump.h"
#include "os.h"
#include "running_profile.h"
#include "thread_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <unistd.h>

/* dlsym may allocate. */
static void *find_next_function(const char *name) {
  bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime);
  void *function = dlsym(RTLD_NEXT, name);

  hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
  return function;
}

static int note_result(int result) {
  int error = errno;

  if (result == 0 && hearth_is_recording())
    hearth_os_note_rights();
  errno = error;
  return result;
}

#define CHECKED(name, parameters, arguments)                                                                           \
  HEARTH_EXPORT int name parameters;                                                                                   \
  int name parameters {                                                                                                \
    int(*next) parameters = (int(*) parameters)find_next_function(#name);                                              \
    return note_result(next arguments);                                                                                \
  }

CHECKED(setuid, (uid_t id), (id))
CHECKED(setgid, (gid_t id), (id))
CHECKED(seteuid, (uid_t id), (id))
CHECKED(setegid, (gid_t id), (id))
CHECKED(setreuid, (uid_t real, uid_t effective), (real, effective))
CHECKED(setregid, (gid_t real, gid_t effective), (real, effective))
CHECKED(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
CHECKED(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
CHECKED(setgroups, (size_t count, const gid_t *groups), (count, groups))
CHECKED(initgroups, (const char *user, gid_t group), (user, group))
