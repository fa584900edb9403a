/* Hearth's raw layout (hearth/raw.h). Call stacks become one forest: a depth-first search is not needed, since every
 * stack is entered from its outermost frame inwards, and so parents get lower numbers than their children. */
#include "dump.h"
#include "mappings.h"
#include "os.h"
#include "unwind.h"

#include "hearth/raw_codec.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct writer {
  hearth_output *output;
  XXH64_state_t checksum; /* of everything behind the header */
} writer;

/* Nodes of the forest, found again by (parent, pc) in an open hash table, which grows: stacks have most of their
 * addresses in common, and memory that is touched here and there is memory that is used. */
typedef struct forest {
  hearth_raw_stack_node *nodes;
  uint32_t *leaves; /* by context */
  size_t size;      /* of the mapping that holds both, which begins with the nodes */
  uint32_t *slots;  /* node + 1; 0 is free */
  uint64_t node_count, slot_count;
} forest;

static void emit(writer *writer, const void *data, size_t size) {
  XXH64_update(&writer->checksum, data, size);
  hearth_output_write(writer->output, data, size);
}

static size_t slots_size(const forest *forest) { return forest->slot_count * sizeof *forest->slots; }

/* The slot of a node, or the free one where it belongs. */
static uint32_t *slot_of(const forest *forest, uint32_t parent, uint64_t pc) {
  /* Parents' numbers and addresses are both dense: combined by less than a product, many pairs would be alike. The upper
   * half of the product is the better one. */
  uint64_t hash = (pc ^ parent * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

  for (uint64_t slot = hash >> 32;; ++slot) {
    uint32_t *entry = &forest->slots[slot & (forest->slot_count - 1)];
    if (*entry == 0)
      return entry;
    const hearth_raw_stack_node *node = &forest->nodes[*entry - 1];
    if (node->pc == pc && node->parent == parent)
      return entry;
  }
}

static bool grow(forest *forest) {
  uint32_t *slots = forest->slots;
  size_t size = slots_size(forest);
  uint32_t *larger = hearth_os_map(2 * size);

  if (!larger)
    return false;
  forest->slots = larger;
  forest->slot_count *= 2;
  for (uint32_t i = 0; i < forest->node_count; ++i)
    *slot_of(forest, forest->nodes[i].parent, forest->nodes[i].pc) = i + 1;
  hearth_os_unmap(slots, size);
  return true;
}

static bool find_or_add(forest *forest, uint32_t parent, uint64_t pc, uint32_t *ret_node) {
  uint32_t *slot = slot_of(forest, parent, pc);

  if (*slot == 0) {
    forest->nodes[forest->node_count] = (hearth_raw_stack_node){.pc = pc, .parent = parent};
    *slot = (uint32_t)++forest->node_count;
  }
  *ret_node = *slot - 1;
  return 2 * forest->node_count <= forest->slot_count || grow(forest);
}

static uint64_t count_pcs(const hearth_snapshot *snapshot) {
  uint64_t count = 0;

  for (uint32_t context = 0; context < snapshot->contexts; ++context)
    if (snapshot->mibs[context].AllocCount > 0) {
      uint32_t depth;
      hearth_depot_stack(snapshot->depot, context, &depth);
      count += depth;
    }
  return count;
}

static bool forest_create(forest *forest, const hearth_snapshot *snapshot) {
  uint64_t pcs = count_pcs(snapshot);

  *forest = (struct forest){.slot_count = HEARTH_OS_PAGE};
  size_t nodes_size = pcs * sizeof *forest->nodes;
  forest->size = nodes_size + snapshot->contexts * sizeof *forest->leaves;
  forest->size = (forest->size + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);
  forest->slots = hearth_os_map(slots_size(forest));
  char *memory = pcs < UINT32_MAX ? hearth_os_map(forest->size) : NULL;
  forest->nodes = (hearth_raw_stack_node *)memory;
  forest->leaves = (uint32_t *)(memory + nodes_size);
  return memory && forest->slots;
}

static void forest_destroy(forest *forest) {
  if (forest->nodes)
    hearth_os_unmap(forest->nodes, forest->size);
  if (forest->slots)
    hearth_os_unmap(forest->slots, slots_size(forest));
}

/* The nodes of the stack that was entered last, outermost first. The next one mostly has nearly all of them. */
typedef struct trunk {
  uint32_t depth;
  uint32_t nodes[HEARTH_DEPTH_MOST];
} trunk;

/* How many of the outermost nodes of the last stack are those of pcs[0..depth), leaf first. */
static uint32_t in_common(const forest *forest, const trunk *trunk, const uint64_t *pcs, uint32_t depth) {
  uint32_t same = 0;

  while (same < depth && same < trunk->depth && forest->nodes[trunk->nodes[same]].pc == pcs[depth - 1 - same])
    ++same;
  return same;
}

static bool plant(forest *forest, const hearth_snapshot *snapshot) {
  trunk trunk = {.depth = 0};

  for (uint32_t context = 0; context < snapshot->contexts; ++context) {
    uint32_t depth, node = HEARTH_RAW_NO_PARENT;
    const uint64_t *pcs = hearth_depot_stack(snapshot->depot, context, &depth);
    if (snapshot->mibs[context].AllocCount == 0)
      continue;
    uint32_t level = in_common(forest, &trunk, pcs, depth);
    for (node = level ? trunk.nodes[level - 1] : node; level < depth; ++level) {
      if (!find_or_add(forest, node, pcs[depth - 1 - level], &node))
        return false;
      trunk.nodes[level] = node;
    }
    trunk.depth = depth;
    forest->leaves[context] = node;
  }
  return true;
}

/* Sections and mappings begin at multiples of 8. */
static void pad(writer *writer) {
  static const char zeros[8];

  emit(writer, zeros, (size_t)(-writer->output->size % 8));
}

static void write_mappings(writer *writer) {
  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));) {
    hearth_raw_mapping raw = {.start = row->start,
                              .end = row->end,
                              .file_offset = row->file_offset,
                              .build_id_size = row->build_id_size,
                              .path_size = row->path_size};
    memcpy(raw.build_id, row->build_id, sizeof raw.build_id);
    emit(writer, &raw, sizeof raw);
    emit(writer, row->path, row->path_size);
    pad(writer);
  }
}

static void write_nodes(writer *writer, const forest *forest) {
  uint8_t packed[HEARTH_RAW_NODE_MOST];
  uint64_t previous_pc = 0;

  for (uint32_t i = 0; i < forest->node_count; ++i) {
    emit(writer, packed, (size_t)(hearth_raw_put_node(packed, i, &forest->nodes[i], previous_pc) - packed));
    previous_pc = forest->nodes[i].pc;
  }
  pad(writer);
}

static void write_number(writer *writer, uint64_t number) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];

  emit(writer, packed, (size_t)(hearth_raw_put_varint(packed, number) - packed));
}

static void write_histogram(writer *writer, const hearth_histograms *histograms, uint32_t context) {
  uint32_t size;
  const uint64_t *sums = hearth_histograms_get(histograms, context, &size);

  write_number(writer, size);
  for (uint32_t i = 0; i < size; ++i)
    write_number(writer, sums[i]);
}

/* Returns how many records there are. */
static uint64_t write_mibs(writer *writer, const hearth_snapshot *snapshot, const forest *forest) {
  uint8_t packed[HEARTH_RAW_MIB_MOST];
  hearth_raw_mib previous = {0};
  uint64_t count = 0;

  for (uint32_t context = 0; context < snapshot->contexts; ++context)
    if (snapshot->mibs[context].AllocCount > 0) {
      hearth_raw_mib raw = {.stack = forest->leaves[context], .mib = snapshot->mibs[context]};
      emit(writer, packed, (size_t)(hearth_raw_put_mib(packed, &raw, &previous) - packed));
      if (snapshot->histograms.by_context)
        write_histogram(writer, &snapshot->histograms, context);
      previous = raw;
      ++count;
    }
  pad(writer);
  return count;
}

int hearth_dump_hearth(hearth_output *output, const hearth_snapshot *snapshot) {
  forest forest;
  writer writer = {.output = output};
  hearth_raw_header header = {
      .magic = HEARTH_RAW_MAGIC,
      .version = HEARTH_RAW_VERSION,
      .header_size = sizeof header,
      .map_offset = sizeof header,
      .map_count = hearth_mappings_count(),
      .mib_columns = HEARTH_MIB_COLUMNS,
      .flags = (snapshot->accesses_counted ? HEARTH_RAW_FLAG_ACCESSES : 0) |
               (snapshot->continues ? HEARTH_RAW_FLAG_CONTINUES : 0) |
               (snapshot->histograms.by_context ? HEARTH_RAW_FLAG_HISTOGRAMS : 0),
      .duration_ns = snapshot->duration_ns,
      .start_unix_ns = snapshot->start_unix_ns,
      .pid = snapshot->pid,
      .dropped_blocks = snapshot->dropped_blocks,
      .dropped_stacks = snapshot->dropped_stacks,
      .sample_bytes = snapshot->sample_bytes,
  };

  if (!forest_create(&forest, snapshot) || !plant(&forest, snapshot)) {
    forest_destroy(&forest);
    return ENOMEM;
  }
  XXH64_reset(&writer.checksum, 0);
  hearth_output_write(output, &header, sizeof header); /* a placeholder: sizes and checksum come last */
  write_mappings(&writer);
  header.stack_offset = output->size;
  header.stack_count = forest.node_count;
  write_nodes(&writer, &forest);
  header.mib_offset = output->size;
  header.mib_count = write_mibs(&writer, snapshot, &forest);
  header.total_size = output->size;
  forest_destroy(&forest);
  XXH64_update(&writer.checksum, &header, sizeof header);
  header.checksum = XXH64_digest(&writer.checksum);
  hearth_output_patch(output, 0, &header, sizeof header);
  return 0;
}
