/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One run over the program finds the ranges of code and keeps a mark every MARK_DISTANCE rows; a look-up searches
 * range and mark, and makes rows from the mark on. */
#include "dwarf_reader.h"

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>

#include "array.h"

#define MARK_DISTANCE 64u /* rows: a look-up makes half of them again on average, a mark takes 32 bytes */

/* The registers that matter here, after a row; `row.discriminator` is of that row only. */
typedef struct machine {
  hearth_line_row row;
  uint64_t at; /* the next opcode, in the header's table */
} machine;

/* Rows with addresses that do not go down: a sequence, as a rule. Damaged tables may have sequences of several. */
typedef struct code_range {
  uint64_t start, end;
  size_t first_mark, mark_count;
} code_range;

/* The numbers that an opcode adds to the address and the line. Lines are modulo 2^32. */
typedef struct line_step {
  uint32_t addresses, lines;
} line_step;

struct hearth_line_program {
  hearth_line_header header;
  line_step steps[256]; /* by the opcode, worked out once, as divisions are slow */
  machine *marks;
  code_range *ranges; /* disjoint and sorted */
  size_t mark_count, mark_capacity, range_count, range_capacity;
};

/* --- Machine ------------------------------------------------------------------------------------------------------ */

static void list_steps(hearth_line_program *p) {
  const hearth_line_header *h = &p->header;
  for (unsigned opcode = h->first_special; opcode < 256; ++opcode) {
    unsigned number = opcode - h->first_special;
    p->steps[opcode] =
        (line_step){number / h->line_range * h->instruction_bytes, (uint32_t)h->line_base + number % h->line_range};
  }
  if (h->first_special > DW_LNS_const_add_pc)
    p->steps[DW_LNS_const_add_pc].addresses = p->steps[255].addresses;
}

static void begin_sequence(machine *m) { m->row = (hearth_line_row){.line = 1}; }

typedef enum step {
  ROW,
  DESCENT,      /* a row with an address below that of the row before it */
  BEYOND,       /* a row with an address above the limit */
  SEQUENCE_END, /* the machine has the address behind the code */
  PROGRAM_END,
  DAMAGED,
} step;

/* ROW: go on, there is none yet. */
static step extended_opcode(const hearth_line_header *h, machine *m) {
  uint64_t length, value;
  if (!hearth_bytes_uleb(h->table, &m->at, &length) || length == 0 || length > h->table.size - m->at)
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
    break;
  case DW_LNE_set_discriminator:
    if (!hearth_bytes_uleb(h->table, &m->at, &value) || m->at > end)
      return DAMAGED;
    m->row.discriminator = (uint32_t)value;
    break;
  default: /* another file, and vendors' opcodes */
    break;
  }
  m->at = end;
  return ROW;
}

/* An opcode that make_rows does not know, behind which the machine is. ROW: go on. */
static step rare_opcode(const hearth_line_header *h, machine *m, uint8_t opcode) {
  uint64_t value = 0;
  bool ok = true;
  switch (opcode) {
  case 0:
    return extended_opcode(h, m);
  case DW_LNS_advance_pc:
    ok = hearth_bytes_uleb(h->table, &m->at, &value);
    m->row.address += value * h->instruction_bytes;
    break;
  case DW_LNS_fixed_advance_pc:
    ok = hearth_bytes_number(h->table, &m->at, 2, &value);
    m->row.address += value;
    break;
  default:
    for (uint8_t i = 0; ok && i < h->operand_counts[opcode - 1]; ++i)
      ok = hearth_bytes_uleb(h->table, &m->at, &value);
  }
  return ok ? ROW : DAMAGED;
}

static step kind_of_row(const hearth_line_row *row, const hearth_line_row *before, uint64_t limit) {
  return row->address < before->address ? DESCENT : row->address > limit ? BEYOND : ROW;
}

/* Most discriminators are of one byte. */
static bool is_short_discriminator(hearth_bytes table, uint64_t at) {
  return table.size - at >= 3 && table.data[at] == 2 && table.data[at + 1] == DW_LNE_set_discriminator &&
         table.data[at + 2] < 0x80;
}

/* Run to the `rows`-th row from here, or as far as it goes with rows that do not descend or go beyond the limit.
 *   ret_before  the last row before the one where it ends; where it begins if there is none
 * Programs have hundreds of thousands of opcodes: the machine is kept in local variables, of which no
 * address is taken, and only rare opcodes are handled elsewhere. */
static step line_program_make_rows(const hearth_line_program *p, machine *m, unsigned rows, uint64_t limit,
                                   hearth_line_row *ret_before) {
  const hearth_bytes table = p->header.table;
  const unsigned first_special = p->header.first_special;
  hearth_line_row row = m->row, before = m->row;
  uint64_t at = m->at, value;
  step what = ROW;
  row.discriminator = 0;
  while (what == ROW) {
    if (at == table.size) {
      what = PROGRAM_END;
      break;
    }
    uint8_t opcode = table.data[at++];
    if (opcode >= first_special) {
      row.address += p->steps[opcode].addresses;
      row.line += p->steps[opcode].lines;
    } else if (opcode != DW_LNS_copy) {
      switch (opcode) {
      case DW_LNS_set_column:
        what = hearth_bytes_uleb(table, &at, &value) ? ROW : DAMAGED;
        row.column = (uint32_t)value;
        continue;
      case DW_LNS_advance_line:
        what = hearth_bytes_sleb(table, &at, &value) ? ROW : DAMAGED;
        row.line += (uint32_t)value;
        continue;
      case DW_LNS_negate_stmt:
        continue;
      case DW_LNS_const_add_pc:
        row.address += p->steps[opcode].addresses;
        continue;
      case 0:
        if (is_short_discriminator(table, at)) {
          row.discriminator = table.data[at + 2];
          at += 3;
          continue;
        } /* fall through */
      default: {
        machine moved = {row, at};
        what = rare_opcode(&p->header, &moved, opcode);
        row = moved.row;
        at = moved.at;
        continue;
      }
      }
    }
    what = kind_of_row(&row, &before, limit);
    if (what != ROW || --rows == 0)
      break;
    before = row;
    row.discriminator = 0;
  }
  *m = (machine){row, at};
  *ret_before = before;
  return what;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

typedef struct reading {
  hearth_line_program *program;
  machine machine;
  code_range open; /* if it has marks */
} reading;

/* End the open range; ranges without code are forgotten. */
static bool end_range(reading *r, uint64_t end) {
  hearth_line_program *p = r->program;
  code_range done = r->open;
  r->open = (code_range){0};
  done.end = end;
  if (done.mark_count == 0 || done.start == 0 || done.start >= done.end) {
    p->mark_count -= done.mark_count;
    return true;
  }
  if (!hearth_array_grow(&p->ranges, &p->range_capacity, p->range_count, sizeof *p->ranges))
    return false;
  p->ranges[p->range_count++] = done;
  return true;
}

/* Mark the row where the machine is; a range begins there if none is open. */
static bool add_mark(reading *r) {
  hearth_line_program *p = r->program;
  if (!hearth_array_grow(&p->marks, &p->mark_capacity, p->mark_count, sizeof *p->marks))
    return false;
  if (r->open.mark_count == 0)
    r->open = (code_range){.start = r->machine.row.address, .first_mark = p->mark_count};
  p->marks[p->mark_count++] = r->machine;
  ++r->open.mark_count;
  return true;
}

/* Up to the next mark; the first one is at the first row.
 *   ret_before  the last row, if there are no more */
static step read_on(reading *r, hearth_line_row *ret_before) {
  bool open = r->open.mark_count > 0;
  return line_program_make_rows(r->program, &r->machine, open ? MARK_DISTANCE : 1, UINT64_MAX, ret_before);
}

static hearth_line_status line_program_read_rows(hearth_line_program *p) {
  reading r = {.program = p, .machine.at = p->header.program};
  bool memory = true;
  hearth_line_row last;
  begin_sequence(&r.machine);
  while (memory) {
    switch (read_on(&r, &last)) {
    case DESCENT:
      memory = end_range(&r, last.address) && add_mark(&r);
      break;
    case SEQUENCE_END:
      memory = end_range(&r, r.machine.row.address > last.address ? r.machine.row.address : last.address);
      begin_sequence(&r.machine);
      break;
    case PROGRAM_END:
      return end_range(&r, last.address) ? HEARTH_LINE_OK : HEARTH_LINE_NO_MEMORY;
    case DAMAGED:
      return HEARTH_LINE_DAMAGED;
    default:
      memory = add_mark(&r);
    }
  }
  return HEARTH_LINE_NO_MEMORY;
}

/* By start; of equal ones, the first in the program. */
static int compare_ranges(const void *a, const void *b) {
  const code_range *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return (x->first_mark > y->first_mark) - (x->first_mark < y->first_mark);
}

/* Where ranges overlap, the one that begins first has the addresses. */
static void order_ranges(hearth_line_program *p) {
  size_t count = 0;
  if (p->range_count > 0)
    qsort(p->ranges, p->range_count, sizeof *p->ranges, compare_ranges);
  for (size_t i = 0; i < p->range_count; ++i) {
    code_range next = p->ranges[i];
    if (count > 0 && next.start < p->ranges[count - 1].end)
      next.start = p->ranges[count - 1].end;
    if (next.start < next.end)
      p->ranges[count++] = next;
  }
  p->range_count = count;
}

hearth_line_status hearth_line_program_create(const hearth_line_source *source, hearth_line_program **ret) {
  hearth_line_status status = HEARTH_LINE_DAMAGED;
  hearth_line_program *p = calloc(1, sizeof *p);
  *ret = NULL;
  if (!p)
    return HEARTH_LINE_NO_MEMORY;
  if (hearth_line_header_read(source, &p->header)) {
    list_steps(p);
    status = line_program_read_rows(p);
  }
  if (status != HEARTH_LINE_OK) {
    hearth_line_program_destroy(p);
    return status;
  }
  order_ranges(p);
  *ret = p;
  return HEARTH_LINE_OK;
}

void hearth_line_program_destroy(hearth_line_program *p) {
  if (!p)
    return;
  HEARTH_FREE(p->marks, p->ranges, p);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

bool hearth_line_program_find(const hearth_line_program *p, uint64_t address, hearth_line_row *ret) {
  size_t ranges = hearth_count_up_to(address, p->ranges, p->range_count, sizeof *p->ranges);
  if (ranges == 0 || address >= p->ranges[ranges - 1].end)
    return false;
  const code_range *in = &p->ranges[ranges - 1];
  /* The first mark is at or below the address: the range begins with it. */
  size_t mark =
      in->first_mark - 1 + hearth_count_up_to(address, p->marks + in->first_mark, in->mark_count, sizeof *p->marks);
  machine m = p->marks[mark];
  line_program_make_rows(p, &m, UINT_MAX, address, ret);
  return true;
}
