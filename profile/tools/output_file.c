#define _GNU_SOURCE /* asprintf */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

static bool fail(const hearth_output *output, const char *what) {
  hearth_tool_error("%s: cannot %s: %s", output->path, what, strerror(errno));
  return false;
}

/* Beside the target, so that the rename stays in one file system. */
static bool open_temporary(hearth_output *output) {
  if (asprintf(&output->temporary, "%s.tmp%ld", output->target, (long)getpid()) < 0) {
    output->temporary = NULL;
    return fail(output, "create");
  }
  int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return fail(output, "create");
  output->stream = fdopen(fd, "w");
  return output->stream || fail(output, "create");
}

bool hearth_output_open(hearth_output *output, const char *path) {
  struct stat info;
  bool standard = !path || strcmp(path, "-") == 0;
  *output = (hearth_output){.stream = standard ? stdout : NULL, .path = standard ? "standard output" : path};
  if (standard)
    return true;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) { /* a rename would replace /dev/null by a file */
    output->stream = fopen(path, "we");
    return output->stream || fail(output, "write");
  }
  output->target = realpath(path, NULL); /* behind a symbolic link: the link stays */
  if (!output->target && errno == ENOENT)
    output->target = strdup(path);
  if (output->target && open_temporary(output))
    return true;
  if (!output->target)
    fail(output, "write");
  free(output->temporary);
  free(output->target);
  return false;
}

bool hearth_output_close(hearth_output *output, bool keep) {
  bool good = !keep || (fflush(output->stream) == 0 && !ferror(output->stream)) || fail(output, "write");
  if (output->stream != stdout && fclose(output->stream) != 0 && keep && good)
    good = fail(output, "write");
  if (output->temporary && keep && good && rename(output->temporary, output->target) != 0)
    good = fail(output, "replace");
  if (output->temporary && !(keep && good))
    unlink(output->temporary);
  free(output->temporary);
  free(output->target);
  return good;
}
