/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens a profile in any form: indexed ones are used in place, also behind a file of llvm-profdata's; a MemProf
 * section is converted, by a builder, into an indexed profile in memory. */

#include "array.h"
#include "file.h"
#include "hearth/builder.h"
#include "hearth/llvm_profile.h"
#include "reader_internal.h"

/* A MemProf section has no form that can be used in place: it is read whole. */
static hearth_status convert_section(hearth_profile_bytes *bytes, const char *name, hearth_error *err) {
  hearth_llvm_skipped skipped;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_LLVM);
  HEARTH_TRY(hearth_check_memory(builder, err));
  hearth_status status = hearth_llvm_read(bytes->data, bytes->size, name, NULL, builder, &skipped, err);
  HEARTH_THEN(status, hearth_builder_write_memory(builder, &bytes->converted, &bytes->size, err));
  if (status == HEARTH_OK)
    bytes->data = bytes->converted;
  hearth_builder_destroy(builder);
  return status;
}

/* In a file of llvm-profdata's, the profile is the trailer or, without one, the MemProf section. */
static hearth_status enter_container(hearth_profile_bytes *bytes, const char *name, hearth_error *err) {
  hearth_llvm_contents contents;
  if (!hearth_llvm_is_container(bytes->data, bytes->size))
    return HEARTH_OK;
  HEARTH_TRY(hearth_llvm_inspect(bytes->data, bytes->size, name, &contents, err));
  if (!contents.trailer_size)
    return convert_section(bytes, name, err);
  bytes->data += contents.trailer_offset;
  bytes->size = contents.trailer_size;
  return HEARTH_OK;
}

static hearth_status open_bytes(hearth_profile_bytes bytes, const char *name, hearth_profile **ret, hearth_error *err) {
  *ret = NULL;
  hearth_status status = enter_container(&bytes, name, err);
  if (status == HEARTH_OK)
    return hearth_profile_open_bytes(&bytes, name, ret, err);
  hearth_file_close(&bytes.file);
  return status;
}

hearth_status hearth_profile_open_memory(const void *data, size_t size, const char *name, hearth_profile **ret,
                                         hearth_error *err) {
  return open_bytes((hearth_profile_bytes){.data = data, .size = size}, name, ret, err);
}

hearth_status hearth_profile_open(const char *path, hearth_profile **ret, hearth_error *err) {
  hearth_file file;
  *ret = NULL;
  HEARTH_TRY(hearth_file_map(path, &file, err));
  return open_bytes((hearth_profile_bytes){.data = file.data, .size = file.size, .file = file}, path, ret, err);
}

hearth_status hearth_profile_open_stream(const char *path, hearth_profile **ret, hearth_error *err) {
  hearth_file file;
  *ret = NULL;
  HEARTH_TRY(hearth_file_read(path, &file, err));
  return open_bytes((hearth_profile_bytes){.data = file.data, .size = file.size, .file = file}, path, ret, err);
}
