#include "builder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static hearth_status out_of_memory(hearth_error *err) { return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory"); }

hearth_builder *hearth_builder_create(enum hearth_id_scheme scheme) {
  hearth_builder *builder = calloc(1, sizeof *builder);
  if (!builder)
    return NULL;
  builder->scheme = scheme;
  builder->runs.accesses_counted = true; /* neutral for "in every run" */
  return builder;
}

void hearth_builder_destroy(hearth_builder *builder) {
  if (!builder)
    return;
  free(builder->pool);
  free(builder->functions);
  free(builder->frames);
  free(builder->nodes);
  free(builder->contexts);
  free(builder->binaries);
  free(builder->strings.slots);
  free(builder->functions_by_id.slots);
  free(builder->frames_by_content.slots);
  free(builder->nodes_by_content.slots);
  free(builder);
}

hearth_status hearth_builder_reserve(void **items, size_t *room, size_t count, size_t more, size_t item_size,
                                     hearth_error *err) {
  if (more > HEARTH_NONE - 1 || count > HEARTH_NONE - 1 - more)
    return hearth_error_set(err, HEARTH_E_FULL, "the profile has more rows than its format can number");
  if (count + more <= *room)
    return HEARTH_OK;
  size_t bigger = *room + *room / 2 + 64;
  if (bigger < count + more)
    bigger = count + more;
  void *moved = realloc(*items, bigger * item_size);
  if (!moved)
    return out_of_memory(err);
  *items = moved;
  *room = bigger;
  return HEARTH_OK;
}

/* Room for one more item in an array and in its index. */
static hearth_status reserve_row(void **items, size_t *room, size_t count, size_t item_size, id_table *table,
                                 hearth_error *err) {
  HEARTH_TRY(hearth_builder_reserve(items, room, count, 1, item_size, err));
  return id_table_reserve(table) ? HEARTH_OK : out_of_memory(err);
}

/* -------------------------------------------------- strings -------------------------------------------------- */

static bool equal_string(const void *owner, uint32_t offset, const void *key) {
  return strcmp(((const hearth_builder *)owner)->pool + offset, key) == 0;
}

/* Offset of the string in the pool. */
static hearth_status intern_string(hearth_builder *builder, const char *string, uint32_t *ret, hearth_error *err) {
  size_t size = strlen(string) + 1;
  uint64_t hash = XXH3_64bits(string, size - 1);
  *ret = id_table_find(&builder->strings, hash, equal_string, builder, string);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_reserve((void **)&builder->pool, &builder->pool_room, builder->pool_size, size, 1, err));
  if (!id_table_reserve(&builder->strings))
    return out_of_memory(err);
  *ret = (uint32_t)builder->pool_size;
  memcpy(builder->pool + builder->pool_size, string, size);
  builder->pool_size += size;
  id_table_insert(&builder->strings, hash, *ret);
  return HEARTH_OK;
}

/* Of two descriptions of one thing keep the same one whatever the order: one that says something, then the least. */
static void prefer(const hearth_builder *builder, uint32_t *kept, uint32_t other) {
  const char *a = builder->pool + *kept, *b = builder->pool + other;
  if (*b && (!*a || strcmp(b, a) < 0))
    *kept = other;
}

/* -------------------------------------------------- functions -------------------------------------------------- */

static bool equal_function(const void *owner, uint32_t row, const void *id) {
  return ((const hearth_builder *)owner)->functions[row].id == *(const uint64_t *)id;
}

hearth_status hearth_builder_function_by_id(hearth_builder *builder, uint64_t id, const char *name, const char *path,
                                            uint32_t start_line, uint32_t *ret_function, hearth_error *err) {
  builder_function described = {.id = id, .start_line = start_line};
  if (strlen(path) >= HEARTH_PATH_LIMIT)
    return hearth_error_set(err, HEARTH_E_FULL, "function %s: its file name has more than %u bytes", name,
                            HEARTH_PATH_LIMIT - 1);
  HEARTH_TRY(intern_string(builder, name, &described.name, err));
  HEARTH_TRY(intern_string(builder, path, &described.path, err));

  uint32_t row = id_table_find(&builder->functions_by_id, id_table_mix(id), equal_function, builder, &id);
  if (row == HEARTH_NONE) {
    HEARTH_TRY(reserve_row((void **)&builder->functions, &builder->function_room, builder->function_count,
                           sizeof *builder->functions, &builder->functions_by_id, err));
    row = (uint32_t)builder->function_count++;
    builder->functions[row] = described;
    id_table_insert(&builder->functions_by_id, id_table_mix(id), row);
  } else {
    builder_function *known = &builder->functions[row];
    prefer(builder, &known->name, described.name);
    prefer(builder, &known->path, described.path);
    if (known->start_line < start_line)
      known->start_line = start_line;
  }
  *ret_function = row;
  return HEARTH_OK;
}

hearth_status hearth_builder_function(hearth_builder *builder, const char *linkage_name, const char *path,
                                      uint32_t start_line, uint32_t *ret_function, hearth_error *err) {
  size_t name_length = hearth_function_name_length(linkage_name, strlen(linkage_name));
  size_t path_length = strlen(path);
  while (path_length > 1 && path[path_length - 1] == '/')
    path_length--;
  char *copy = malloc(name_length + 1 + path_length + 1);
  if (!copy)
    return out_of_memory(err);
  char *stripped_path = copy + name_length + 1;
  memcpy(copy, linkage_name, name_length);
  copy[name_length] = '\0';
  memcpy(stripped_path, path, path_length);
  stripped_path[path_length] = '\0';

  uint64_t id = builder->scheme == HEARTH_IDS_LLVM ? hearth_llvm_function_id(copy, name_length)
                                                   : hearth_function_id(copy, name_length, stripped_path);
  hearth_status status = hearth_builder_function_by_id(builder, id, copy, stripped_path, start_line, ret_function, err);
  free(copy);
  return status;
}

/* -------------------------------------------------- frames and stacks
 * -------------------------------------------------- */

static uint64_t hash_frame(const builder_frame *f) {
  uint64_t hash = id_table_mix((uint64_t)f->function << 32 | f->line);
  return id_table_mix(hash ^ ((uint64_t)f->column << 32 | f->discriminator)) + f->flags;
}

static bool equal_frame(const void *owner, uint32_t row, const void *key) {
  return memcmp(&((const hearth_builder *)owner)->frames[row], key, sizeof(builder_frame)) == 0;
}

hearth_status hearth_builder_intern_frame(hearth_builder *builder, const builder_frame *frame, uint32_t *ret_frame,
                                          hearth_error *err) {
  uint64_t hash = hash_frame(frame);
  *ret_frame = id_table_find(&builder->frames_by_content, hash, equal_frame, builder, frame);
  if (*ret_frame != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(reserve_row((void **)&builder->frames, &builder->frame_room, builder->frame_count, sizeof *builder->frames,
                         &builder->frames_by_content, err));
  *ret_frame = (uint32_t)builder->frame_count++;
  builder->frames[*ret_frame] = *frame;
  id_table_insert(&builder->frames_by_content, hash, *ret_frame);
  return HEARTH_OK;
}

static uint64_t hash_node(uint32_t frame, uint32_t parent) { return id_table_mix((uint64_t)parent << 32 | frame); }

static bool equal_node(const void *owner, uint32_t row, const void *key) {
  const builder_node *node = &((const hearth_builder *)owner)->nodes[row], *wanted = key;
  return node->frame == wanted->frame && node->parent == wanted->parent;
}

hearth_status hearth_builder_intern_node(hearth_builder *builder, uint32_t parent, uint32_t frame, uint32_t *ret_node,
                                         hearth_error *err) {
  builder_node key = {.frame = frame, .parent = parent, .context = HEARTH_NONE};
  uint64_t hash = hash_node(frame, parent);
  *ret_node = id_table_find(&builder->nodes_by_content, hash, equal_node, builder, &key);
  if (*ret_node != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(reserve_row((void **)&builder->nodes, &builder->node_room, builder->node_count, sizeof *builder->nodes,
                         &builder->nodes_by_content, err));
  *ret_node = (uint32_t)builder->node_count++;
  builder->nodes[*ret_node] = key;
  id_table_insert(&builder->nodes_by_content, hash, *ret_node);
  return HEARTH_OK;
}

hearth_status hearth_builder_add_to_node(hearth_builder *builder, uint32_t node, const hearth_mib *mib,
                                         hearth_error *err) {
  if (mib->AllocCount == 0)
    return HEARTH_OK; /* the empty record is neutral: a context of which nothing is known does not exist */
  if (builder->nodes[node].context != HEARTH_NONE) {
    hearth_mib_merge(&builder->contexts[builder->nodes[node].context].mib, mib);
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_builder_reserve((void **)&builder->contexts, &builder->context_room, builder->context_count, 1,
                                    sizeof *builder->contexts, err));
  builder->nodes[node].context = (uint32_t)builder->context_count;
  builder->contexts[builder->context_count++] = (builder_context){.node = node, .mib = *mib};
  return HEARTH_OK;
}

hearth_status hearth_builder_add(hearth_builder *builder, const hearth_builder_frame *frames, size_t n,
                                 const hearth_mib *mib, hearth_error *err) {
  if (n == 0)
    return hearth_error_set(err, HEARTH_E_USAGE, "a context needs at least one frame");
  for (size_t i = 0; i < n; i++)
    if (frames[i].function >= builder->function_count)
      return hearth_error_set(err, HEARTH_E_USAGE, "a frame names a function that was not added");

  uint32_t node = HEARTH_NONE;
  for (size_t i = n; i-- > 0;) {
    builder_frame key = {.function = frames[i].function,
                         .line = frames[i].line,
                         .column = frames[i].column,
                         .discriminator = hearth_base_discriminator(frames[i].discriminator),
                         .flags = frames[i].inlined ? HEARTH_FRAME_INLINED : 0};
    uint32_t frame;
    HEARTH_TRY(hearth_builder_intern_frame(builder, &key, &frame, err));
    HEARTH_TRY(hearth_builder_intern_node(builder, node, frame, &node, err));
  }
  return hearth_builder_add_to_node(builder, node, mib, err);
}

size_t hearth_builder_context_count(const hearth_builder *builder) { return builder->context_count; }

/* -------------------------------------------------- runs, binaries, whole profiles
 * -------------------------------------------------- */

hearth_status hearth_builder_add_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err) {
  (void)err; /* cannot fail today; callers are ready for the day it can */
  hearth_profile_summary *sum = &builder->runs;
  sum->runs = hearth_merge_SUM(sum->runs, run->runs);
  sum->duration_ns = hearth_merge_SUM(sum->duration_ns, run->duration_ns);
  sum->dropped_blocks = hearth_merge_SUM(sum->dropped_blocks, run->dropped_blocks);
  sum->dropped_frames = hearth_merge_SUM(sum->dropped_frames, run->dropped_frames);
  sum->accesses_counted = sum->accesses_counted && run->accesses_counted;
  builder->has_runs = true;
  return HEARTH_OK;
}

hearth_status hearth_builder_add_binary(hearth_builder *builder, const char *name, const uint8_t *build_id,
                                        uint32_t build_id_size, hearth_error *err) {
  builder_binary binary = {.build_id_size = build_id_size};
  if (build_id_size > HEARTH_BUILD_ID_MAX)
    return hearth_error_set(err, HEARTH_E_FULL, "%s: its build id has %u bytes; a profile holds at most %zu", name,
                            build_id_size, HEARTH_BUILD_ID_MAX);
  if (build_id_size)
    memcpy(binary.build_id, build_id, build_id_size);
  HEARTH_TRY(intern_string(builder, name, &binary.name, err));
  for (size_t i = 0; i < builder->binary_count; i++) /* few */
    if (memcmp(&builder->binaries[i], &binary, sizeof binary) == 0)
      return HEARTH_OK;
  HEARTH_TRY(hearth_builder_reserve((void **)&builder->binaries, &builder->binary_room, builder->binary_count, 1,
                                    sizeof *builder->binaries, err));
  builder->binaries[builder->binary_count++] = binary;
  return HEARTH_OK;
}

static hearth_status add_functions(hearth_builder *builder, hearth_profile *profile, uint32_t *rows,
                                   hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  for (uint32_t i = 0; i < hearth_profile_function_count(profile); i++) {
    hearth_function_info f;
    HEARTH_TRY(hearth_profile_get_function(profile, i, &f, err));
    HEARTH_TRY(hearth_profile_get_path(profile, f.path, path, sizeof path, err));
    HEARTH_TRY(hearth_builder_function_by_id(builder, f.id, f.name, path, f.start_line, &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status add_frames(hearth_builder *builder, hearth_profile *profile, const uint32_t *functions,
                                uint32_t *rows, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_frame_count(profile); i++) {
    hearth_frame_info f;
    HEARTH_TRY(hearth_profile_get_frame(profile, i, &f, err));
    builder_frame key = {.function = functions[f.function],
                         .line = f.line,
                         .column = f.column,
                         .discriminator = f.discriminator,
                         .flags = f.inlined ? HEARTH_FRAME_INLINED : 0};
    HEARTH_TRY(hearth_builder_intern_frame(builder, &key, &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status add_nodes(hearth_builder *builder, hearth_profile *profile, const uint32_t *frames, uint32_t *rows,
                               hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_stack_count(profile); i++) {
    uint32_t frame, parent;
    HEARTH_TRY(hearth_profile_get_stack(profile, i, &frame, &parent, err));
    HEARTH_TRY(hearth_builder_intern_node(builder, parent == HEARTH_NONE ? HEARTH_NONE : rows[parent], frames[frame],
                                          &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status add_contexts(hearth_builder *builder, hearth_profile *profile, const uint32_t *nodes,
                                  hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    uint32_t leaf;
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(profile, i, &leaf, &mib, err));
    HEARTH_TRY(hearth_builder_add_to_node(builder, nodes[leaf], &mib, err));
  }
  return HEARTH_OK;
}

static hearth_status add_binaries(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    HEARTH_TRY(hearth_profile_get_binary(profile, i, &name, &build_id, &size, err));
    HEARTH_TRY(hearth_builder_add_binary(builder, name, build_id, size, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_builder_add_profile(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  if (summary.id_scheme != builder->scheme)
    return hearth_error_set(err, HEARTH_E_MISMATCH,
                            "profiles with Hearth's function ids and with LLVM's cannot be merged");
  uint32_t *functions = malloc(((size_t)hearth_profile_function_count(profile) + 1) * sizeof *functions);
  uint32_t *frames = malloc(((size_t)hearth_profile_frame_count(profile) + 1) * sizeof *frames);
  uint32_t *nodes = malloc(((size_t)hearth_profile_stack_count(profile) + 1) * sizeof *nodes);
  hearth_status status = functions && frames && nodes ? HEARTH_OK : out_of_memory(err);
  if (status == HEARTH_OK)
    status = add_functions(builder, profile, functions, err);
  if (status == HEARTH_OK)
    status = add_frames(builder, profile, functions, frames, err);
  if (status == HEARTH_OK)
    status = add_nodes(builder, profile, frames, nodes, err);
  if (status == HEARTH_OK)
    status = add_contexts(builder, profile, nodes, err);
  if (status == HEARTH_OK)
    status = add_binaries(builder, profile, err);
  if (status == HEARTH_OK)
    status = hearth_builder_add_run(builder, &summary, err);
  free(functions);
  free(frames);
  free(nodes);
  return status;
}
