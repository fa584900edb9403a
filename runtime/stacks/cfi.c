/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An interpreter of DWARF call frame information: .eh_frame_hdr is searched, the entry's instructions are run up to
 * the pc. */
#include "unwind.h"

#include <string.h>

/* Encodings of pointers (DW_EH_PE_*) and instructions (DW_CFA_*, DW_OP_*), of those that compilers use. */
enum {
  PE_ABSOLUTE = 0x00,
  PE_UDATA2 = 0x02,
  PE_UDATA4 = 0x03,
  PE_UDATA8 = 0x04,
  PE_SDATA2 = 0x0a,
  PE_SDATA4 = 0x0b,
  PE_SDATA8 = 0x0c,
  PE_FORMAT = 0x0f,
  PE_PC_RELATIVE = 0x10,
  PE_TABLE = 0x3b, /* of .eh_frame_hdr: 32 bits, relative to its start */

  CFA_NOP = 0x00,
  CFA_ADVANCE_1 = 0x02,
  CFA_ADVANCE_2 = 0x03,
  CFA_ADVANCE_4 = 0x04,
  CFA_UNDEFINED = 0x07,
  CFA_SAME_VALUE = 0x08,
  CFA_REGISTER = 0x09,
  CFA_REMEMBER_STATE = 0x0a,
  CFA_RESTORE_STATE = 0x0b,
  CFA_DEF_CFA = 0x0c,
  CFA_DEF_CFA_REGISTER = 0x0d,
  CFA_DEF_CFA_OFFSET = 0x0e,
  CFA_DEF_CFA_EXPRESSION = 0x0f,
  CFA_EXPRESSION = 0x10,
  CFA_OFFSET_EXTENDED_SF = 0x11,
  CFA_GNU_ARGS_SIZE = 0x2e,
  CFA_ADVANCE = 0x40, /* these have an operand in their lower six bits */
  CFA_OFFSET = 0x80,
  CFA_RESTORE = 0xc0,

  OP_DEREF = 0x06,
  OP_BREG6 = 0x76,
};

enum { RBP = 6, RSP = 7, RETURN_ADDRESS = 16 };

#define ENTRY_MOST   ((uint64_t)1 << 20) /* bytes of an entry: a broken one is not to be followed through all memory */
#define AUGMENT_MOST 8u                  /* letters */
#define STATES_MOST  8u                  /* remembered at a time */

/* Bytes [at, end) of the process, read in pieces. */
typedef struct cursor {
  const hearth_cfi_tables *tables;
  uintptr_t at, end;
  bool failed; /* fewer bytes were left than asked for: the value is 0 */
  uintptr_t piece;
  size_t piece_size;
  bool copied;       /* the piece is in `bytes`; else it is read where it lies */
  uint8_t bytes[64]; /* small: call stacks are captured on the least of stacks */
} cursor;

static bool is_there(const hearth_cfi_tables *tables, uintptr_t at, size_t size) {
  return at >= tables->low && at < tables->high && tables->high - at >= size;
}

static cursor cursor_at(const hearth_cfi_tables *tables, uintptr_t at, uint64_t size) {
  cursor cursor = {.tables = tables, .at = at, .failed = size > UINTPTR_MAX - at};

  cursor.end = cursor.failed ? at : at + size;
  return cursor;
}

static bool refill_cursor(cursor *cursor) {
  size_t left = cursor->end - cursor->at;

  cursor->piece = cursor->at;
  cursor->copied = !is_there(cursor->tables, cursor->at, left);
  cursor->piece_size = !cursor->copied || left < sizeof cursor->bytes ? left : sizeof cursor->bytes;
  if (cursor->piece_size > 0 &&
      (!cursor->copied || cursor->tables->read(cursor->piece, cursor->bytes, cursor->piece_size)))
    return true;
  cursor->failed = true;
  cursor->piece_size = 0;
  cursor->at = cursor->end; /* so that every loop over the rest ends */
  return false;
}

static uint8_t take_u8(cursor *cursor) {
  if (cursor->at - cursor->piece >= cursor->piece_size && !refill_cursor(cursor))
    return 0;
  const uint8_t *piece = cursor->copied ? cursor->bytes : (const uint8_t *)cursor->piece;
  return piece[cursor->at++ - cursor->piece];
}

/* A number of `size` bytes. */
static uint64_t take_number(cursor *cursor, unsigned size) {
  uint64_t number = 0;

  for (unsigned i = 0; i < size; ++i)
    number |= (uint64_t)take_u8(cursor) << 8 * i;
  return number;
}

static uint64_t take_leb(cursor *cursor, bool is_signed) {
  uint64_t number = 0;
  unsigned shift = 0;
  uint8_t byte;

  do {
    byte = take_u8(cursor);
    if (shift < 64)
      number |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (is_signed && byte & 0x40 && shift < 64)
    number |= UINT64_MAX << shift;
  return number;
}

static uint64_t take_uleb(cursor *cursor) { return take_leb(cursor, false); }

static int64_t take_sleb(cursor *cursor) { return (int64_t)take_leb(cursor, true); }

static void skip_bytes(cursor *cursor, uint64_t size) {
  if (size <= cursor->end - cursor->at) {
    cursor->at += size;
    return;
  }
  cursor->failed = true;
  cursor->at = cursor->end;
}

/* Bytes of a pointer; 0: not known. */
static unsigned pointer_size(uint8_t encoding) {
  switch (encoding & PE_FORMAT) {
  case PE_UDATA2:
  case PE_SDATA2:
    return 2;
  case PE_UDATA4:
  case PE_SDATA4:
    return 4;
  case PE_ABSOLUTE:
  case PE_UDATA8:
  case PE_SDATA8:
    return 8;
  default:
    return 0;
  }
}

static uint64_t take_pointer(cursor *cursor, uint8_t encoding) {
  uintptr_t at = cursor->at;
  unsigned size = pointer_size(encoding);
  uint64_t value = take_number(cursor, size);

  if (size == 0)
    cursor->failed = true;
  if ((encoding & PE_FORMAT) == PE_SDATA2)
    value = (uint64_t)(int64_t)(int16_t)value;
  if ((encoding & PE_FORMAT) == PE_SDATA4)
    value = (uint64_t)(int64_t)(int32_t)value;
  switch (encoding & ~PE_FORMAT) {
  case PE_ABSOLUTE:
    return value;
  case PE_PC_RELATIVE:
    return at + value;
  default: /* indirect, or relative to a base that compilers for x86-64 do not use */
    cursor->failed = true;
    return 0;
  }
}

typedef struct table_row {
  int32_t start, entry; /* relative to the header */
} table_row;

static bool read_table_row(const hearth_cfi_tables *tables, uintptr_t at, table_row *ret_row) {
  if (!is_there(tables, at, sizeof *ret_row))
    return tables->read(at, ret_row, sizeof *ret_row);
  memcpy(ret_row, (const void *)at, sizeof *ret_row);
  return true;
}

/* The entry (FDE) of the last function that begins at `pc` or before; 0: none. */
static uintptr_t find_entry(const hearth_cfi_tables *tables, uintptr_t pc) {
  uintptr_t header = tables->header;
  cursor cursor = cursor_at(tables, header, 4 + 8 + 8);
  uint8_t version = take_u8(&cursor), frame_encoding = take_u8(&cursor);
  uint8_t count_encoding = take_u8(&cursor), table_encoding = take_u8(&cursor);
  table_row row, found = {0, 0};

  skip_bytes(&cursor, pointer_size(frame_encoding));
  if (version != 1 || count_encoding != PE_UDATA4 || table_encoding != PE_TABLE || pointer_size(frame_encoding) == 0)
    return 0;
  uint64_t low = 0, high = take_number(&cursor, 4);
  uintptr_t table = cursor.at;
  if (cursor.failed)
    return 0;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (!read_table_row(tables, table + middle * sizeof row, &row))
      return 0;
    if (header + (uintptr_t)(intptr_t)row.start <= pc) {
      found = row;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? header + (uintptr_t)(intptr_t)found.entry : 0;
}

/* The common part of entries of functions (CIE). */
typedef struct common {
  uint64_t code_factor;
  int64_t data_factor;
  uint8_t encoding;
  bool augmented;
  cursor instructions;
} common;

/* The rest of the entry that begins at `at`, behind its size. Fails at the end of the section, and for 64-bit entries. */
static cursor open_entry(const hearth_cfi_tables *tables, uintptr_t at) {
  cursor size = cursor_at(tables, at, 4);
  uint64_t bytes = take_number(&size, 4);
  cursor entry = cursor_at(tables, at + 4, bytes);

  entry.failed |= size.failed || bytes == 0 || bytes > ENTRY_MOST;
  return entry;
}

/* The letters of an augmentation name the fields that follow. */
static void read_augmentation(common *common, cursor *entry, const char *letters) {
  if (letters[0] != 'z') {
    entry->failed |= letters[0] != '\0';
    return;
  }
  common->augmented = true;
  uint64_t size = take_uleb(entry);
  cursor content = *entry;
  skip_bytes(entry, size);
  for (const char *letter = letters + 1; *letter; ++letter)
    if (*letter == 'R') {
      common->encoding = take_u8(&content);
    } else if (*letter == 'P') {
      skip_bytes(&content, pointer_size(take_u8(&content)));
    } else if (*letter == 'L') {
      take_u8(&content);
    } else { /* 'S', a signal's frame: its rules are expressions */
      entry->failed |= *letter != 'S';
    }
  entry->failed |= content.failed || content.at > entry->at;
}

static bool read_common(common *common, const hearth_cfi_tables *tables, uintptr_t at) {
  char letters[AUGMENT_MOST + 1] = "";
  cursor entry = open_entry(tables, at);
  uint64_t id = take_number(&entry, 4);
  uint8_t version = take_u8(&entry);

  for (unsigned i = 0; (letters[i] = (char)take_u8(&entry)) != '\0'; ++i)
    if (i == AUGMENT_MOST)
      return false;
  common->code_factor = take_uleb(&entry);
  common->data_factor = take_sleb(&entry);
  uint64_t return_address = version == 1 ? take_u8(&entry) : take_uleb(&entry);
  common->encoding = PE_ABSOLUTE;
  common->augmented = false;
  read_augmentation(common, &entry, letters);
  common->instructions = entry;
  return id == 0 && (version == 1 || version == 3) && return_address == RETURN_ADDRESS && !entry.failed;
}

typedef enum place { UNCHANGED, SAVED, AT_RBP, NOWHERE, OTHER } place;

/* The row of one instruction. */
typedef struct row {
  uint64_t cfa_register;
  int64_t cfa;     /* offset */
  bool cfa_loaded; /* the CFA is the word that cfa_register + cfa points to */
  bool cfa_other;  /* it is given by an expression of another form */
  place rbp, return_address;
  int64_t rbp_offset, return_offset; /* from the CFA, if SAVED */
} row;

typedef struct machine {
  const common *common;
  row row, initial, states[STATES_MOST];
  unsigned states_used;
  uintptr_t location;
} machine;

static void set_place(row *row, uint64_t reg, place place, int64_t offset) {
  if (reg == RBP) {
    row->rbp = place;
    row->rbp_offset = offset;
  } else if (reg == RETURN_ADDRESS) {
    row->return_address = place;
    row->return_offset = offset;
  }
}

static void restore_register(machine *machine, uint64_t reg) {
  if (reg == RBP)
    set_place(&machine->row, reg, machine->initial.rbp, machine->initial.rbp_offset);
  else
    set_place(&machine->row, reg, machine->initial.return_address, machine->initial.return_offset);
}

static int64_t scale_offset(const machine *machine, int64_t offset) {
  return (int64_t)((uint64_t)offset * (uint64_t)machine->common->data_factor);
}

static void advance_location(machine *machine, uint64_t steps) {
  machine->location += steps * machine->common->code_factor;
}

static void set_cfa(machine *machine, uint64_t reg, int64_t offset) {
  machine->row.cfa_register = reg;
  machine->row.cfa = offset;
  machine->row.cfa_loaded = machine->row.cfa_other = false;
}

/* "rbp + n", then loaded. */
static void set_cfa_expression(machine *machine, cursor *code) {
  uint64_t size = take_uleb(code);
  cursor expression = *code;

  skip_bytes(code, size);
  bool is_sum = take_u8(&expression) == OP_BREG6;
  set_cfa(machine, RBP, take_sleb(&expression));
  machine->row.cfa_loaded = true;
  machine->row.cfa_other = !is_sum || take_u8(&expression) != OP_DEREF || expression.at != code->at;
}

static void set_expression(machine *machine, cursor *code) {
  uint64_t reg = take_uleb(code), size = take_uleb(code);
  cursor expression = *code;

  skip_bytes(code, size);
  bool is_rbp = take_u8(&expression) == OP_BREG6 && take_sleb(&expression) == 0 && expression.at == code->at;
  set_place(&machine->row, reg, is_rbp ? AT_RBP : OTHER, 0);
}

static void remember_state(machine *machine, cursor *code) {
  if (machine->states_used == STATES_MOST)
    code->failed = true;
  else
    machine->states[machine->states_used++] = machine->row;
}

static void recall_state(machine *machine, cursor *code) {
  if (machine->states_used == 0)
    code->failed = true;
  else
    machine->row = machine->states[--machine->states_used];
}

static void execute_extended(machine *machine, uint8_t instruction, cursor *code) {
  uint64_t reg;

  switch (instruction) {
  case CFA_NOP:
    break;
  case CFA_ADVANCE_1:
  case CFA_ADVANCE_2:
  case CFA_ADVANCE_4:
    advance_location(machine, take_number(code, 1u << (instruction - CFA_ADVANCE_1)));
    break;
  case CFA_OFFSET_EXTENDED_SF:
    reg = take_uleb(code);
    set_place(&machine->row, reg, SAVED, scale_offset(machine, take_sleb(code)));
    break;
  case CFA_UNDEFINED:
    set_place(&machine->row, take_uleb(code), NOWHERE, 0);
    break;
  case CFA_SAME_VALUE:
    set_place(&machine->row, take_uleb(code), UNCHANGED, 0);
    break;
  case CFA_REGISTER:
    set_place(&machine->row, take_uleb(code), OTHER, 0);
    take_uleb(code);
    break;
  case CFA_REMEMBER_STATE:
    remember_state(machine, code);
    break;
  case CFA_RESTORE_STATE:
    recall_state(machine, code);
    break;
  case CFA_DEF_CFA:
    reg = take_uleb(code);
    set_cfa(machine, reg, (int64_t)take_uleb(code));
    break;
  case CFA_DEF_CFA_REGISTER:
    set_cfa(machine, take_uleb(code), machine->row.cfa);
    break;
  case CFA_DEF_CFA_OFFSET:
    set_cfa(machine, machine->row.cfa_register, (int64_t)take_uleb(code));
    break;
  case CFA_DEF_CFA_EXPRESSION:
    set_cfa_expression(machine, code);
    break;
  case CFA_EXPRESSION:
    set_expression(machine, code);
    break;
  case CFA_GNU_ARGS_SIZE:
    take_uleb(code);
    break;
  default:
    code->failed = true;
  }
}

static void execute_instruction(machine *machine, cursor *code) {
  uint8_t instruction = take_u8(code), operand = instruction & 0x3f;

  switch (instruction & 0xc0) {
  case CFA_ADVANCE:
    advance_location(machine, operand);
    break;
  case CFA_OFFSET:
    set_place(&machine->row, operand, SAVED, scale_offset(machine, (int64_t)take_uleb(code)));
    break;
  case CFA_RESTORE:
    restore_register(machine, operand);
    break;
  default:
    execute_extended(machine, instruction, code);
  }
}

/* The rows of a function follow each other; the row of `pc` is the last one that does not begin behind it. */
static bool run_instructions(machine *machine, cursor code, uintptr_t pc) {
  while (code.at < code.end && !code.failed) {
    row before = machine->row;
    execute_instruction(machine, &code);
    if (machine->location > pc) {
      machine->row = before;
      break;
    }
  }
  return !code.failed;
}

/* The part of a row that unwinding needs. */
static hearth_cfi_rule simplify(const row *row) {
  const hearth_cfi_rule none = {.kind = HEARTH_CFI_NONE};
  hearth_cfi_rule rule = {.cfa = (int32_t)row->cfa};

  if (row->return_address == NOWHERE)
    return (hearth_cfi_rule){.kind = HEARTH_CFI_ROOT};
  if (row->cfa_other || rule.cfa != row->cfa || row->return_address != SAVED || row->return_offset != -8)
    return none;
  if (row->cfa_loaded) {
    rule.kind = row->rbp == AT_RBP ? HEARTH_CFI_LOADED : HEARTH_CFI_NONE;
    return rule;
  }
  if (row->cfa_register != RBP && row->cfa_register != RSP)
    return none;
  if (row->rbp == SAVED) {
    rule.rbp = (int16_t)row->rbp_offset;
    if (rule.rbp != row->rbp_offset || rule.rbp >= 0)
      return none;
  } else if (row->rbp != UNCHANGED) {
    return none;
  }
  rule.kind = row->cfa_register == RSP ? HEARTH_CFI_RSP : HEARTH_CFI_RBP;
  return rule;
}

hearth_cfi_rule hearth_cfi_find(const hearth_cfi_tables *tables, uintptr_t pc) {
  const hearth_cfi_rule none = {.kind = HEARTH_CFI_NONE};
  common common;
  uintptr_t at = find_entry(tables, pc);

  if (!at)
    return none;
  cursor entry = open_entry(tables, at);
  uintptr_t distance_at = entry.at;
  uint64_t distance = take_number(&entry, 4);
  if (entry.failed || distance == 0 || !read_common(&common, tables, distance_at - distance))
    return none;
  uintptr_t start = take_pointer(&entry, common.encoding);
  uint64_t size = take_pointer(&entry, common.encoding & PE_FORMAT);
  if (common.augmented)
    skip_bytes(&entry, take_uleb(&entry));
  if (entry.failed || pc < start || pc - start >= size)
    return none;
  machine machine = {.common = &common, .location = start};
  if (!run_instructions(&machine, common.instructions, UINTPTR_MAX))
    return none;
  machine.initial = machine.row;
  return run_instructions(&machine, entry, pc) ? simplify(&machine.row) : none;
}
