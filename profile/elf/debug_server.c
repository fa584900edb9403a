/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libdebuginfod brings thirty libraries with it, which no command should load for nothing: it is opened when a file is
 * asked for. */
#include "debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

/* From its <elfutils/debuginfod.h>. */
typedef struct debuginfod_client client;
typedef client *begin_function(void);
typedef int find_function(client *, const unsigned char *id, int id_size, char **ret_path);
typedef void end_function(client *);

typedef struct functions {
  begin_function *begin;
  find_function *find;
  end_function *end;
} functions;

/* The library stays open: curl and what it uses do not like to be unloaded. */
static bool open_library(hearth_served kind, functions *ret) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  *ret = (functions){
      (begin_function *)dlsym(library, "debuginfod_begin"),
      (find_function *)dlsym(library,
                             kind == HEARTH_SERVED_BINARY ? "debuginfod_find_executable" : "debuginfod_find_debuginfo"),
      (end_function *)dlsym(library, "debuginfod_end"),
  };
  return ret->begin && ret->find && ret->end;
}

hearth_status hearth_debug_server_ask(hearth_bytes id, hearth_served kind, char **ret_path, hearth_error *err) {
  const char *servers = getenv("DEBUGINFOD_URLS");
  functions library;

  *ret_path = NULL;
  if (!servers || !servers[strspn(servers, " ")] || id.size == 0 || id.size > 64)
    return HEARTH_OK;
  if (!open_library(kind, &library))
    return hearth_error_set(err, HEARTH_E_IO,
                            "DEBUGINFOD_URLS is set, but %s cannot be loaded (install it, or unset the variable)",
                            LIBRARY);
  client *asking = library.begin();
  if (!asking)
    return hearth_error_nomem(err);
  int file = library.find(asking, id.data, (int)id.size, ret_path);
  library.end(asking);
  if (file >= 0)
    close(file);
  if (file >= 0 || file == -ENOENT)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_IO, "the servers of DEBUGINFOD_URLS (%.200s) failed: %s", servers,
                          strerror(-file));
}
