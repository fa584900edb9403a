#include "symbolise/line_program.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbolise/array.h"

#define MARK_DISTANCE 128u /* rows: a look-up makes half of it again on average, a mark takes 40 bytes */

/* The registers that matter here, after a row; `row.discriminator` is of that row only. */
typedef struct machine {
  hearth_line_row row;
  uint32_t operation; /* within the instruction, where one holds several */
  uint64_t at;        /* the next opcode, in the header's table */
} machine;

/* Rows with addresses that do not go down: a sequence, as a rule. Damaged tables may have sequences of several. */
typedef struct run {
  uint64_t start, end;
  size_t first_mark, mark_count;
} run;

struct hearth_line_program {
  hearth_line_header header;
  machine *marks;
  run *runs; /* disjoint and sorted */
  size_t mark_count, mark_capacity, run_count, run_capacity;
};

/* --- Machine ------------------------------------------------------------------------------------------------------ */

typedef enum step { ROW, SEQUENCE_END, PROGRAM_END, DAMAGED } step;

static void begin_sequence(machine *m) {
  m->row = (hearth_line_row){.line = 1};
  m->operation = 0;
}

static void advance(const hearth_line_header *h, machine *m, uint64_t operations) {
  if (h->instruction_operations == 1) {
    m->row.address += operations * h->instruction_bytes;
    return;
  }
  operations += m->operation;
  m->row.address += operations / h->instruction_operations * h->instruction_bytes;
  m->operation = (uint32_t)(operations % h->instruction_operations);
}

static bool uleb(const hearth_line_header *h, machine *m, uint64_t *ret) {
  return hearth_bytes_uleb(h->table, &m->at, ret);
}

/* Signed; bits beyond 64 are ignored. */
static bool sleb(const hearth_line_header *h, machine *m, uint64_t *ret) {
  *ret = 0;
  for (unsigned shift = 0; m->at < h->table.size; shift += 7) {
    uint8_t byte = h->table.data[m->at++];
    if (shift < 64)
      *ret |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80)
      continue;
    if ((byte & 0x40) && shift + 7 < 64)
      *ret |= UINT64_MAX << (shift + 7);
    return true;
  }
  return false;
}

/* ROW: go on, there is none yet. */
static step extended(const hearth_line_header *h, machine *m) {
  uint64_t length, value;
  if (!uleb(h, m, &length) || length == 0 || length > h->table.size - m->at)
    return DAMAGED;
  uint64_t end = m->at + length;
  switch (h->table.data[m->at++]) {
  case DW_LNE_end_sequence:
    m->at = end;
    return SEQUENCE_END;
  case DW_LNE_set_address:
    if (length < 2 || length > 9)
      return DAMAGED;
    hearth_bytes_number(h->table, &m->at, (size_t)length - 1, &m->row.address);
    m->operation = 0;
    break;
  case DW_LNE_set_discriminator:
    if (!uleb(h, m, &value) || m->at > end)
      return DAMAGED;
    m->row.discriminator = (uint32_t)value;
    break;
  default: /* another file, and what vendors add */
    break;
  }
  m->at = end;
  return ROW;
}

/* An opcode with operands that are numbers. False: it is damaged. */
static bool standard(const hearth_line_header *h, machine *m, uint8_t opcode) {
  uint64_t value = 0;
  switch (opcode) {
  case DW_LNS_advance_pc:
    if (!uleb(h, m, &value))
      return false;
    advance(h, m, value);
    return true;
  case DW_LNS_advance_line:
    if (!sleb(h, m, &value))
      return false;
    m->row.line += (uint32_t)value;
    return true;
  case DW_LNS_set_column:
    if (!uleb(h, m, &value))
      return false;
    m->row.column = (uint32_t)value;
    return true;
  case DW_LNS_const_add_pc:
    advance(h, m, (255u - h->first_special) / h->line_range);
    return true;
  case DW_LNS_fixed_advance_pc:
    if (!hearth_bytes_number(h->table, &m->at, 2, &value))
      return false;
    m->row.address += value;
    m->operation = 0;
    return true;
  default:
    for (uint8_t i = 0; i < h->operand_counts[opcode - 1]; ++i)
      if (!uleb(h, m, &value))
        return false;
    return true;
  }
}

/* Run up to the next row. At the end of a sequence the row is the address behind its code. */
static step next_row(const hearth_line_header *h, machine *m) {
  m->row.discriminator = 0;
  while (m->at < h->table.size) {
    uint8_t opcode = h->table.data[m->at++];
    if (opcode >= h->first_special) {
      opcode = (uint8_t)(opcode - h->first_special);
      advance(h, m, opcode / h->line_range);
      m->row.line += (uint32_t)(h->line_base + opcode % h->line_range);
      return ROW;
    }
    if (opcode == DW_LNS_copy)
      return ROW;
    if (opcode == 0) {
      step what = extended(h, m);
      if (what != ROW)
        return what;
    } else if (!standard(h, m, opcode)) {
      return DAMAGED;
    }
  }
  return PROGRAM_END;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

typedef struct reading {
  hearth_line_program *program;
  machine machine;
  run open;          /* if it has marks */
  uint64_t previous; /* address of the open run's last row */
  size_t unmarked;   /* rows since its last mark */
} reading;

/* End the open run; runs without code are forgotten. */
static bool close_run(reading *r, uint64_t end) {
  hearth_line_program *p = r->program;
  run done = r->open;
  r->open = (run){0};
  done.end = end;
  if (done.mark_count == 0 || done.start == 0 || done.start >= done.end) {
    p->mark_count -= done.mark_count;
    return true;
  }
  if (!hearth_array_grow(&p->runs, &p->run_capacity, p->run_count, sizeof *p->runs))
    return false;
  p->runs[p->run_count++] = done;
  return true;
}

static bool add_row(reading *r) {
  hearth_line_program *p = r->program;
  uint64_t address = r->machine.row.address;
  if (r->open.mark_count > 0 && address < r->previous && !close_run(r, r->previous))
    return false;
  r->previous = address;
  if (r->open.mark_count > 0 && ++r->unmarked < MARK_DISTANCE)
    return true;
  if (!hearth_array_grow(&p->marks, &p->mark_capacity, p->mark_count, sizeof *p->marks))
    return false;
  if (r->open.mark_count == 0)
    r->open = (run){.start = address, .first_mark = p->mark_count};
  p->marks[p->mark_count++] = r->machine;
  ++r->open.mark_count;
  r->unmarked = 0;
  return true;
}

static hearth_line_status read_rows(reading *r) {
  const hearth_line_header *h = &r->program->header;
  bool memory = true;
  while (memory) {
    switch (next_row(h, &r->machine)) {
    case ROW:
      memory = add_row(r);
      break;
    case SEQUENCE_END:
      memory = close_run(r, r->machine.row.address > r->previous ? r->machine.row.address : r->previous);
      begin_sequence(&r->machine);
      break;
    case PROGRAM_END:
      return close_run(r, r->previous) ? HEARTH_LINE_OK : HEARTH_LINE_NO_MEMORY;
    case DAMAGED:
      return HEARTH_LINE_DAMAGED;
    }
  }
  return HEARTH_LINE_NO_MEMORY;
}

/* By start; of equal ones, the first in the program. */
static int compare_runs(const void *a, const void *b) {
  const run *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return (x->first_mark > y->first_mark) - (x->first_mark < y->first_mark);
}

/* Where runs overlap, the one that begins first has the addresses. */
static void order_runs(hearth_line_program *p) {
  size_t count = 0;
  if (p->run_count > 0)
    qsort(p->runs, p->run_count, sizeof *p->runs, compare_runs);
  for (size_t i = 0; i < p->run_count; ++i) {
    run next = p->runs[i];
    if (count > 0 && next.start < p->runs[count - 1].end)
      next.start = p->runs[count - 1].end;
    if (next.start < next.end)
      p->runs[count++] = next;
  }
  p->run_count = count;
}

hearth_line_status hearth_line_program_create(const hearth_line_source *source, hearth_line_program **ret) {
  hearth_line_status status = HEARTH_LINE_DAMAGED;
  hearth_line_program *p = calloc(1, sizeof *p);
  *ret = NULL;
  if (!p)
    return HEARTH_LINE_NO_MEMORY;
  if (hearth_line_header_read(source, &p->header)) {
    reading r = {.program = p, .machine.at = p->header.program};
    begin_sequence(&r.machine);
    status = read_rows(&r);
  }
  if (status != HEARTH_LINE_OK) {
    hearth_line_program_destroy(p);
    return status;
  }
  order_runs(p);
  *ret = p;
  return HEARTH_LINE_OK;
}

void hearth_line_program_destroy(hearth_line_program *p) {
  if (!p)
    return;
  free(p->marks);
  free(p->runs);
  free(p);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

static const run *find_run(const hearth_line_program *p, uint64_t address) {
  size_t low = 0, high = p->run_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (address < p->runs[middle].start)
      high = middle;
    else if (address >= p->runs[middle].end)
      low = middle + 1;
    else
      return &p->runs[middle];
  }
  return NULL;
}

bool hearth_line_program_find(const hearth_line_program *p, uint64_t address, hearth_line_row *ret) {
  const run *in = find_run(p, address);
  if (!in)
    return false;
  /* The first mark is at or below the address: the run begins with it. */
  size_t mark = in->first_mark, end = in->first_mark + in->mark_count;
  while (end - mark > 1) {
    size_t middle = mark + (end - mark) / 2;
    if (p->marks[middle].row.address <= address)
      mark = middle;
    else
      end = middle;
  }
  machine m = p->marks[mark];
  *ret = m.row;
  while (next_row(&p->header, &m) == ROW && m.row.address <= address && m.row.address >= ret->address)
    *ret = m.row;
  return true;
}
