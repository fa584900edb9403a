/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hearth's raw layout (hearth/raw.h). Call stacks are the depot's forest, without the calls that no written stack has. */
#include "clock.h"
#include "depot.h"
#include "dump.h"
#include "history.h"
#include "known_stacks.h"
#include "mappings.h"
#include "os.h"
#include "output.h"
#include "own_thread.h"
#include "running_profile.h"
#include "scopes.h"
#include "shadow.h"

#include "hearth/raw.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct writer {
  hearth_file_output *output;
  XXH64_state_t checksum; /* of everything behind the header */
} writer;

static void emit(writer *writer, const void *data, size_t size) {
  XXH64_update(&writer->checksum, data, size);
  hearth_file_output_write(writer->output, data, size);
}

/* Of a call that has a number, or of none. */
static uint32_t dump_node_of(const hearth_depot *depot, uint32_t call) {
  return call ? depot->calls[call].number - 1 : HEARTH_RAW_NO_PARENT;
}

/* Sections and mappings begin at multiples of 8. */
static void pad(writer *writer) {
  static const char zeros[8];

  emit(writer, zeros, (size_t)(-writer->output->size % 8));
}

static void write_mappings(writer *writer) {
  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));) {
    hearth_raw_mapping raw = hearth_mapping_raw(row);
    emit(writer, &raw, sizeof raw);
    emit(writer, row->path, row->path_size);
    pad(writer);
  }
}

static void write_varint(writer *writer, uint64_t number) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];

  emit(writer, packed, (size_t)(hearth_raw_put_varint(packed, number) - packed));
}

static void write_text(writer *writer, const hearth_text *text) {
  write_varint(writer, text->length);
  emit(writer, text->start, text->length);
}

/* Arguments may be secret: without the option `command`, only of a program that a person has recorded. Behind each
 * but the last, a blank takes the place of its NUL. */
static void find_command(hearth_text *command) {
  uint32_t option = hearth_rt.options.command;

  if (option != HEARTH_COMMAND_ON && !(option == HEARTH_COMMAND_AUTO && hearth_recorder))
    return;
  command->length = hearth_os_command(command->start, command->size);
  if (command->length == command->size) /* cut, or as good as that */
    memcpy(command->start + --command->length - 3, "...", 3);
  while (command->length > 0 && command->start[command->length - 1] == '\0')
    --command->length;
  for (size_t i = 0; i < command->length; ++i)
    if (command->start[i] == '\0')
      command->start[i] = ' ';
}

static void write_run(writer *writer, uint64_t peak, const hearth_text *command) {
  write_varint(writer, peak);
  write_text(writer, command);
}

static void write_levels(writer *writer, uint64_t levels[HEARTH_RAW_POINTS], uint64_t dropped_bits) {
  static uint8_t packed[HEARTH_RAW_LEVELS_MOST]; /* signal stacks are small; the dumping thread has a lock */

  for (unsigned i = 0; i < HEARTH_RAW_POINTS; i++)
    levels[i] &= ~dropped_bits;
  emit(writer, packed, (size_t)(hearth_raw_put_levels(packed, levels) - packed));
}

/* Levels are exact to a 2048th of the greatest. Records are those of the contexts in the order of stacks. */
static void write_history(writer *writer, const hearth_snapshot *snapshot) {
  static uint64_t levels[HEARTH_RAW_POINTS];
  const hearth_history_view *view = &snapshot->history;
  uint64_t dropped_bits = (UINT64_C(1) << (63 - __builtin_clzll((view->all.most >> 11) | 1))) - 1;
  uint32_t count = 0, next = 0;

  for (uint32_t i = 0; i < snapshot->count; i++)
    count += hearth_history_view_levels(view, hearth_snapshot_context(snapshot, i), levels);
  write_varint(writer, view->peak_ns < snapshot->duration_ns ? view->peak_ns : snapshot->duration_ns);
  memcpy(levels, view->levels, sizeof levels);
  write_levels(writer, levels, dropped_bits);
  write_varint(writer, count);
  for (uint32_t i = 0; i < snapshot->count; i++)
    if (hearth_history_view_levels(view, hearth_snapshot_context(snapshot, i), levels)) {
      write_varint(writer, i - next);
      write_levels(writer, levels, dropped_bits);
      next = i + 1;
    }
}

/* `count`: threads that forgot to stop may add more. */
static void write_names(writer *writer, uint32_t count) {
  write_varint(writer, count);
  for (uint32_t i = 0; i < count; ++i) {
    char text[HEARTH_NAME_MOST + 1];
    uint32_t size = hearth_context_name_copy(i, text);
    write_varint(writer, size);
    emit(writer, text, size);
  }
}

/* Node number `at`. */
static void write_node(writer *writer, uint32_t at, hearth_raw_stack_node node, uint64_t *previous_pc) {
  uint8_t packed[HEARTH_RAW_NODE_MOST];

  emit(writer, packed, (size_t)(hearth_raw_put_node(packed, at, &node, *previous_pc) - packed));
  *previous_pc = node.pc;
}

/* From node number `first` on; returns how many there are. */
static uint32_t write_folded_pcs(writer *writer, uint32_t first, uint64_t *previous_pc) {
  uint32_t next = first;

  for (const uint64_t *pc = NULL; (pc = hearth_folded_pcs_next(pc));) {
    if (next == first)
      write_node(writer, next++, (hearth_raw_stack_node){HEARTH_RAW_LEFT_OUT, HEARTH_RAW_NO_PARENT}, previous_pc);
    write_node(writer, next++, (hearth_raw_stack_node){*pc, first}, previous_pc);
  }
  return next - first;
}

/* `count` calls have numbers. Returns how many nodes there are. */
static uint32_t write_stack_nodes(writer *writer, const hearth_depot *depot, uint32_t count) {
  uint64_t previous_pc = 0;

  for (uint32_t call = 1, written = 0; written < count; ++call)
    if (depot->calls[call].number) {
      uint32_t parent = dump_node_of(depot, depot->calls[call].caller);
      write_node(writer, written++, (hearth_raw_stack_node){depot->calls[call].pc, parent}, &previous_pc);
    }
  uint32_t folded = write_folded_pcs(writer, count, &previous_pc);
  pad(writer);
  return count + folded;
}

static void write_histogram(writer *writer, const hearth_snapshot *snapshot, uint32_t context) {
  uint32_t size;
  const uint64_t *sums = hearth_snapshot_histogram(snapshot, context, &size);

  write_varint(writer, size);
  for (uint32_t i = 0; i < size; ++i)
    write_varint(writer, sums[i]);
}

static void raw_write_mib(writer *writer, uint32_t stack, const hearth_mib *mib, hearth_raw_mib *previous) {
  uint8_t packed[HEARTH_RAW_MIB_MOST];
  hearth_raw_mib raw = {.stack = stack, .mib = *mib};

  emit(writer, packed, (size_t)(hearth_raw_put_mib(packed, &raw, previous) - packed));
  *previous = raw;
}

static void write_live_rows(writer *writer, const hearth_snapshot *snapshot, uint32_t context, uint32_t stack,
                            hearth_raw_mib *previous) {
  const hearth_live_row *rows = snapshot->live->rows, *row;

  for (uint32_t number = snapshot->live->first[context]; number > 0; number = row->next) {
    row = &rows[number - 1];
    raw_write_mib(writer, stack, &row->mib, previous);
    if (!snapshot->has_residency)
      continue;
    write_varint(writer, row->residency.resident);
    write_varint(writer, row->residency.swapped);
    write_varint(writer, row->residency.unwritten);
  }
}

static void raw_write_mibs(writer *writer, const hearth_snapshot *snapshot) {
  hearth_raw_mib previous = {0};
  bool has_picks = !snapshot->live && hearth_pick_thread_hold();

  for (uint32_t i = 0; i < snapshot->count; ++i) {
    uint32_t context = hearth_snapshot_context(snapshot, i);
    uint32_t stack = dump_node_of(snapshot->depot, snapshot->depot->entries[context].leaf);
    if (snapshot->live) {
      write_live_rows(writer, snapshot, context, stack, &previous);
      continue;
    }
    hearth_mib mib = hearth_snapshot_mib(snapshot, context);
    if (has_picks)
      hearth_pick_thread_set(context, &mib);
    raw_write_mib(writer, stack, &mib, &previous);
    if (hearth_snapshot_has_histograms(snapshot))
      write_histogram(writer, snapshot, context);
  }
  if (has_picks)
    hearth_pick_thread_let_go();
  pad(writer);
}

static void write_global(const hearth_global_row *row, const char *name, const char *file, void *closure) {
  writer *writer = closure;
  hearth_access_sum sum = hearth_shadow_sum((const void *)(uintptr_t)row->address, row->size);
  const hearth_text texts[] = {{.start = (char *)(uintptr_t)name, .length = strlen(name)},
                               {.start = (char *)(uintptr_t)file, .length = strlen(file)}};

  write_varint(writer, row->address);
  write_varint(writer, row->size);
  write_varint(writer, row->flags);
  write_varint(writer, row->line);
  write_varint(writer, sum.accesses);
  write_varint(writer, sum.touched);
  if (row->flags & HEARTH_GLOBAL_STORES)
    write_varint(writer, hearth_shadow_sum_stores((const void *)(uintptr_t)row->address, row->size));
  write_text(writer, &texts[0]);
  write_text(writer, &texts[1]);
}

static void dump_write_globals(writer *writer) {
  write_varint(writer, hearth_static_data_each(NULL, NULL));
  hearth_static_data_each(write_global, writer);
  pad(writer);
}

int hearth_dump_hearth(hearth_file_output *output, const hearth_snapshot *snapshot) {
  static char command_line[HEARTH_RAW_COMMAND_MAX + 1]; /* signal stacks are small; the dumping thread has a lock */
  writer writer = {.output = output};
  uint32_t name_count = hearth_context_name_limit();
  uint32_t call_count = hearth_depot_number_calls(snapshot->depot, snapshot->count);
  hearth_text command = hearth_text_begin(command_line, sizeof command_line);
  uint64_t peak = hearth_live_note_stop().most_bytes, clock_error_ns = hearth_clock_error_ns();
  hearth_raw_header header = {
      .magic = HEARTH_RAW_MAGIC,
      .version = HEARTH_RAW_VERSION,
      .header_size = sizeof header,
      .map_offset = sizeof header,
      .map_count = hearth_mappings_count(),
      .mib_columns = HEARTH_MIB_COLUMNS,
      .flags = (snapshot->accesses_counted ? HEARTH_RAW_FLAG_ACCESSES : 0) |
               (snapshot->accesses_estimated ? HEARTH_RAW_FLAG_ESTIMATED : 0) |
               (snapshot->continues ? HEARTH_RAW_FLAG_CONTINUES : 0) |
               (hearth_snapshot_has_histograms(snapshot) ? HEARTH_RAW_FLAG_HISTOGRAMS : 0) |
               (name_count > 0 ? HEARTH_RAW_FLAG_NAMES : 0) | snapshot->occasion << HEARTH_RAW_OCCASION_SHIFT |
               (clock_error_ns > 0 ? HEARTH_RAW_FLAG_CLOCK : 0) |
               (snapshot->history.entries ? HEARTH_RAW_FLAG_HISTORY : 0) |
               (snapshot->has_globals ? HEARTH_RAW_FLAG_GLOBALS : 0) |
               (snapshot->has_residency ? HEARTH_RAW_FLAG_RESIDENCY : 0),
      .duration_ns = snapshot->duration_ns,
      .start_unix_ns = snapshot->start_unix_ns,
      .pid = snapshot->pid,
      .dropped_blocks = snapshot->dropped_blocks,
      .dropped_stacks = snapshot->dropped_stacks,
      .sample_bytes = snapshot->sample_bytes,
  };

  find_command(&command);
  if (!snapshot->live && (peak > 0 || command.length > 0))
    header.flags |= HEARTH_RAW_FLAG_RUN;
  if (call_count >= HEARTH_RAW_NO_PARENT - HEARTH_FOLDED_PCS_MOST - 1)
    return EOVERFLOW;
  XXH64_reset(&writer.checksum, 0);
  hearth_file_output_write(output, &header, sizeof header); /* a placeholder: sizes and checksum come last */
  write_mappings(&writer);
  if (header.flags & HEARTH_RAW_FLAG_RUN)
    write_run(&writer, peak, &command);
  if (clock_error_ns > 0)
    write_varint(&writer, clock_error_ns);
  if (header.flags & HEARTH_RAW_FLAG_HISTORY)
    write_history(&writer, snapshot);
  if (name_count > 0)
    write_names(&writer, name_count);
  pad(&writer);
  header.stack_offset = output->size;
  header.stack_count = write_stack_nodes(&writer, snapshot->depot, call_count);
  header.mib_offset = output->size;
  header.mib_count = snapshot->live ? snapshot->live->row_count : snapshot->count;
  raw_write_mibs(&writer, snapshot);
  if (snapshot->has_globals)
    dump_write_globals(&writer);
  header.total_size = output->size;
  XXH64_update(&writer.checksum, &header, sizeof header);
  header.checksum = XXH64_digest(&writer.checksum);
  hearth_file_output_patch(output, 0, &header, sizeof header);
  return 0;
}
