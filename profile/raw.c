/* What both layouts of raw profiles share: telling them apart, messages, freeing. */
#include "raw_internal.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/raw_llvm.h"

static uint64_t magic_at(const void *data) {
  uint64_t magic;
  memcpy(&magic, data, sizeof magic);
  return magic;
}

static bool is_swapped(uint64_t magic) {
  magic = __builtin_bswap64(magic);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC;
}

bool hearth_raw_is_raw(const void *data, size_t size) {
  if (size < sizeof(uint64_t))
    return false;
  uint64_t magic = magic_at(data);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC || is_swapped(magic);
}

static const char *remedy(hearth_status status) {
  switch (status) {
  case HEARTH_E_TRUNCATED:
    return "was the program killed while writing, or the copy cut short? run it again";
  case HEARTH_E_VERSION:
    return "use the runtime and the hearth command of one release, or clang 16 to 22 for LLVM's layout";
  case HEARTH_E_NOMEM:
    return "free memory or index fewer profiles at once";
  default:
    return "run the program again to get an intact profile";
  }
}

hearth_status hearth_raw_fail(const hearth_raw_input *in, size_t at, hearth_status status, hearth_error *err,
                              const char *reason) {
  return hearth_error_set(err, status, "%s: offset %zu: %s (%s)", in->name, in->begin + at, reason, remedy(status));
}

hearth_status hearth_raw_read(const char *name, const hearth_file *file, size_t *offset, hearth_raw_dump *ret,
                              hearth_error *err) {
  hearth_raw_input in = {.name = name, .file = file, .begin = *offset};
  hearth_status status = HEARTH_OK;
  size_t dump_size = 0;

  memset(ret, 0, sizeof *ret);
  if (*offset > file->size || file->size - *offset < sizeof(uint64_t))
    return hearth_raw_fail(&in, 0, HEARTH_E_TRUNCATED, err, "too short for a raw profile");
  uint64_t magic = magic_at(file->data + in.begin);
  if (magic == HEARTH_RAW_MAGIC)
    status = hearth_raw_read_hearth(&in, ret, &dump_size, err);
  else if (magic == HEARTH_LLVM_RAW_MAGIC)
    status = hearth_raw_read_llvm(&in, ret, &dump_size, err);
  else if (is_swapped(magic))
    status = hearth_raw_fail(&in, 0, HEARTH_E_VERSION, err, "written by a machine of the other byte order");
  else
    status = hearth_raw_fail(&in, 0, HEARTH_E_FORMAT, err, "no raw profile begins here");
  if (status != HEARTH_OK) {
    hearth_raw_free(ret);
    return status;
  }
  ret->in = in;
  *offset += dump_size;
  return HEARTH_OK;
}

bool hearth_raw_next_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  if (dump->next_record == dump->record_count)
    return false;
  size_t from = dump->next_at;
  dump->read_record(dump, ret);
  dump->next_record++;
  hearth_raw_passed(&dump->in, from, dump->next_at);
  return true;
}

void hearth_raw_free(hearth_raw_dump *dump) {
  for (size_t i = 0; i < dump->map_count; ++i)
    free(dump->maps[i].path);
  free(dump->maps);
  free(dump->nodes);
  hearth_raw_stacks_free(dump->stacks);
  memset(dump, 0, sizeof *dump);
}
