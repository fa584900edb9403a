/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs close descriptors that they do not know, and change user, root and working directory: each write first
 * checks that the descriptor is still the file's; if it is not, the file is opened by its name. */
#define ZSTD_STATIC_LINKING_ONLY /* contexts in given memory */
#include "dump.h"
#include "mappings.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "scopes.h"
#include "trace_recorder.h"

#include "hearth/raw.h"
#include "hearth/trace_format.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define COMMAND_MOST ((size_t)65536) /* longer command lines are cut */

hearth_lock hearth_trace_file_lock;

static struct {
  char name[HEARTH_OUTPUT_NAME];
  hearth_os_file_id id;
  int fd;
  uint64_t size;
  int error; /* the first error number: nothing is written any more */
} file = {.fd = -1};

/* Another file may have got its name meanwhile. */
static bool reopen_trace(void) {
  if (hearth_os_is_file(file.fd, file.id))
    return true;
  file.fd = hearth_own_descriptor_move(hearth_os_open_append(file.name));
  if (file.fd >= 0 && !hearth_os_is_file(file.fd, file.id)) {
    hearth_os_close(file.fd);
    file.fd = -ESTALE;
  }
  if (file.fd < 0)
    file.error = -file.fd;
  return file.fd >= 0;
}

static bool add_to_trace(const void *head, size_t head_size, const void *payload, size_t size) {
  if (file.error || !reopen_trace())
    return false;
  hearth_own_writes before = hearth_own_writes_begin(0);
  file.error = hearth_file_write_all(file.fd, head, head_size);
  if (!file.error)
    file.error = hearth_file_write_all(file.fd, payload, size);
  hearth_own_writes_end(before);
  if (file.error) {
    hearth_os_truncate(file.fd, file.size);
    return false;
  }
  file.size += head_size + size;
  return true;
}

static void tell_error(void) {
  static int told;

  if (hearth_message_is_new(&told, file.error) && file.error)
    hearth_message("the trace %s ends early: %s", file.name, hearth_error_name(file.error));
}

/* The name of the file, or the first like it that is free; or that of a device. */
static int create_trace_file(void) {
  hearth_text name = hearth_text_begin(file.name, sizeof file.name);

  hearth_profile_file_name(&name);
  size_t length = name.length;
  int fd = hearth_os_open_device(file.name);
  if (fd >= 0)
    return fd;
  for (uint64_t number = 2; (fd = name.cut ? -ENAMETOOLONG : hearth_os_create_append(file.name)) == -EEXIST; ++number) {
    file.name[length] = '\0';
    name.length = length;
    hearth_text_format(&name, ".%u", number);
  }
  return fd;
}

bool hearth_trace_file_add(hearth_trace_block *block, const void *payload, size_t size) {
  XXH64_state_t state;

  block->magic = HEARTH_TRACE_BLOCK_MAGIC;
  block->stored_size = (uint32_t)size;
  block->checksum = 0;
  XXH64_reset(&state, 0);
  XXH64_update(&state, payload, size);
  XXH64_update(&state, block, sizeof *block);
  block->checksum = XXH64_digest(&state);
  bool added = add_to_trace(block, sizeof *block, payload, size);
  tell_error();
  return added;
}

const char *hearth_trace_file_name(void) { return file.name; }

void hearth_trace_file_tell(void) {
  if (hearth_rt.options.verbosity > 0 && !file.error)
    hearth_message("trace written to %s, %u bytes", file.name, file.size);
}

/* zstd with a workspace of fixed size: it allocates nothing. */

#define WINDOW_LOG 16

/* Columns are a few KiB of numbers that look random in part: the fastest search finds all that can be found. */
static const ZSTD_compressionParameters search = {.windowLog = WINDOW_LOG,
                                                  .chainLog = 6,
                                                  .hashLog = 12,
                                                  .searchLog = 1,
                                                  .minMatch = 5,
                                                  .targetLength =
                                                      0, /* with ZSTD_fast, others switch off the coding of literals */
                                                  .strategy = ZSTD_fast};

static size_t compressor_size(void) { return (ZSTD_estimateCCtxSize_usingCParams(search) + 63) & ~(size_t)63; }

size_t hearth_packer_memory(size_t most) {
  return compressor_size() + most + most / 128 + HEARTH_TRACE_COLUMNS_MOST * (sizeof(hearth_trace_column_size) + 128);
}

bool hearth_packer_create(hearth_packer *packer, void *memory, size_t most) {
  ZSTD_CCtx *compressor = ZSTD_initStaticCCtx(memory, compressor_size());

  packer->compressor = compressor;
  packer->packed = (uint8_t *)memory + compressor_size();
  packer->room = hearth_packer_memory(most) - compressor_size();
  packer->size = 0;
  return compressor && !ZSTD_isError(ZSTD_CCtx_setCParams(compressor, search)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0));
}

void hearth_packer_begin(hearth_packer *packer) { packer->size = 0; }

void hearth_packer_add(hearth_packer *packer, const void *column, size_t size) {
  hearth_trace_column_size sizes = {(uint32_t)size, (uint32_t)size};
  uint8_t *to = packer->packed + packer->size;
  size_t room = packer->room - packer->size - sizeof sizes;
  size_t packed = ZSTD_compress2(packer->compressor, to + sizeof sizes, room, column, size);

  if (ZSTD_isError(packed) || packed >= size)
    memcpy(to + sizeof sizes, column, size);
  else
    sizes.packed = (uint32_t)packed;
  memcpy(to, &sizes, sizeof sizes);
  packer->size += sizeof sizes + sizes.packed;
}

/* The whole list is written again when it has become longer. */

#define MAPPINGS_BYTES ((size_t)256 << 10)

static uint64_t written; /* mappings in the file */

static size_t padded(size_t size) { return (size + 7) & ~(size_t)7; }

static size_t put_mapping(uint8_t *to, const hearth_mapping *row) {
  hearth_raw_mapping raw = hearth_mapping_raw(row);

  memcpy(to, &raw, sizeof raw);
  memcpy(to + sizeof raw, row->path, row->path_size);
  return padded(sizeof raw + row->path_size);
}

void hearth_trace_mappings_add(hearth_packer *packer) {
  hearth_trace_block block = {.kind = HEARTH_TRACE_BLOCK_MAPPINGS};
  uint64_t known = hearth_mappings_count();
  uint8_t *memory = known == written ? NULL : hearth_system_map(MAPPINGS_BYTES);
  size_t size = 0;

  if (!memory)
    return;
  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));) {
    if (padded(sizeof(hearth_raw_mapping) + row->path_size) > MAPPINGS_BYTES - size)
      break;
    size += put_mapping(memory + size, row);
    ++block.count;
  }
  hearth_packer_begin(packer);
  hearth_packer_add(packer, memory, size);
  hearth_trace_file_add(&block, packer->packed, packer->size);
  hearth_system_unmap(memory, MAPPINGS_BYTES);
  written = known;
}

/* Stacks are the depot's forest. A call is written, and gets its number, when an event first has it. */

#define GATHER_BYTES ((size_t)256 << 10)

static struct {
  uint8_t *gathered; /* nodes from `first` on, packed */
  uint8_t *end;      /* of the gathered nodes */
  uint32_t count, first;
  uint64_t previous_pc;
  uint64_t dropped;
} forest;

bool hearth_trace_stacks_create(void) {
  forest.gathered = forest.end = hearth_system_map_sparse(GATHER_BYTES);
  return forest.gathered != NULL;
}

void hearth_trace_stacks_flush(hearth_packer *packer) {
  hearth_trace_block block = {
      .kind = HEARTH_TRACE_BLOCK_STACKS, .count = forest.count - forest.first, .first = forest.first};

  if (block.count == 0)
    return;
  hearth_packer_begin(packer);
  hearth_packer_add(packer, forest.gathered, (size_t)(forest.end - forest.gathered));
  hearth_trace_file_add(&block, packer->packed, packer->size);
  forest.first = forest.count;
  forest.end = forest.gathered;
}

/* Its caller has a number. False: there is no room. */
static bool write_call(hearth_depot_call *call, hearth_packer *packer) {
  hearth_raw_stack_node raw = {
      .pc = call->pc, .parent = call->caller ? hearth_rt.depot.calls[call->caller].number - 1 : HEARTH_RAW_NO_PARENT};

  if (forest.count == HEARTH_TRACE_NODES_TOTAL)
    return false;
  if (forest.count - forest.first == HEARTH_TRACE_NODES_MOST ||
      (size_t)(forest.end - forest.gathered) > GATHER_BYTES - HEARTH_RAW_NODE_MOST)
    hearth_trace_stacks_flush(packer);
  forest.end =
      hearth_raw_put_node(forest.end, forest.count, &raw, forest.count > forest.first ? forest.previous_pc : 0);
  forest.previous_pc = call->pc;
  call->number = ++forest.count;
  return true;
}

uint32_t hearth_trace_stacks_node(uint32_t context, hearth_packer *packer) {
  static uint32_t path[HEARTH_STACK_MOST]; /* signal stacks are small */
  hearth_depot_call *calls = hearth_rt.depot.calls;
  uint32_t depth = 0;

  if (context == 0 ||
      context >= hearth_depot_limit(&hearth_rt.depot)) /* the empty stack, also of contexts without room */
    return HEARTH_TRACE_NO_STACK;
  uint32_t leaf = hearth_rt.depot.entries[context].leaf;
  for (uint32_t call = leaf; call && !calls[call].number; call = calls[call].caller)
    path[depth++] = call;
  while (depth > 0)
    if (!write_call(&calls[path[--depth]], packer)) {
      ++forest.dropped;
      return HEARTH_TRACE_NO_STACK;
    }
  return calls[leaf].number - 1;
}

uint64_t hearth_trace_stacks_dropped(void) { return forest.dropped; }

/* Nothing is in it yet: neither stacks nor mappings. */
int hearth_trace_file_begin(void) {
  static char head[sizeof(hearth_trace_header) + COMMAND_MOST];
  char *command = head + sizeof(hearth_trace_header);
  size_t command_size = hearth_os_command(command, COMMAND_MOST), padded = (command_size + 7) & ~(size_t)7;
  hearth_trace_header header = {.magic = HEARTH_TRACE_MAGIC,
                                .version = HEARTH_TRACE_VERSION,
                                .header_size = (uint32_t)(sizeof header + padded),
                                .pid = hearth_rt.pid,
                                .start_ns = hearth_rt.start_ns,
                                .start_unix_ns = hearth_rt.start_unix_ns,
                                .stack_depth = hearth_rt.options.stack_depth,
                                .command_size = (uint32_t)command_size};

  memset(command + command_size, 0, padded - command_size);
  memcpy(head, &header, sizeof header);
  hearth_depot_number_calls(&hearth_rt.depot, 0);
  forest.count = forest.first = 0;
  forest.end = forest.gathered;
  forest.dropped = 0;
  written = 0;
  file.error = 0;
  file.size = 0;
  file.fd = create_trace_file();
  if (file.fd == -ENOENT) {
    hearth_profile_file_make_directories(file.name);
    file.fd = create_trace_file();
  }
  file.fd = hearth_own_descriptor_move(file.fd);
  if (file.fd < 0 || !hearth_os_file_id_of(file.fd, &file.id))
    file.error = file.fd < 0 ? -file.fd : EIO;
  if (!file.error && !add_to_trace(head, header.header_size, NULL, 0) && !hearth_os_is_device(file.name))
    hearth_os_unlink(file.name);
  return file.error;
}
