#include "symbolise/line_block.h"

#include <dwarf.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FIRST_SPECIAL 13u
#define LEB_BYTES     4u /* longer numbers are not known here */
#define TOO_MANY      UINT_MAX

bool hearth_line_block_fits(const hearth_line_header *header) {
  static const uint8_t operand_counts[FIRST_SPECIAL - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  return header->first_special == FIRST_SPECIAL &&
         memcmp(header->operand_counts, operand_counts, sizeof operand_counts) == 0;
}

#ifdef __SSE2__

/* Sets of bytes: bit i is byte i. A byte that looks like an opcode may be an operand. */
typedef struct bytes_by_kind {
  uint64_t continued; /* bytes of 128 and more: in LEB128, another one follows */
  uint64_t zero, copy, advance_pc, advance_line, set_file, set_column, const_add_pc, fixed_advance_pc, set_isa, special;
} bytes_by_kind;

typedef struct block_bytes {
  __m128i parts[4];
} block_bytes;

static inline uint64_t join(__m128i a, __m128i b, __m128i c, __m128i d) {
  return (uint64_t)(unsigned)_mm_movemask_epi8(a) | (uint64_t)(unsigned)_mm_movemask_epi8(b) << 16 |
         (uint64_t)(unsigned)_mm_movemask_epi8(c) << 32 | (uint64_t)(unsigned)_mm_movemask_epi8(d) << 48;
}

static inline uint64_t equal(const block_bytes *in, unsigned byte) {
  __m128i all = _mm_set1_epi8((char)byte);
  return join(_mm_cmpeq_epi8(in->parts[0], all), _mm_cmpeq_epi8(in->parts[1], all), _mm_cmpeq_epi8(in->parts[2], all),
              _mm_cmpeq_epi8(in->parts[3], all));
}

static inline __m128i are_special(__m128i part) {
  return _mm_cmpeq_epi8(part, _mm_max_epu8(part, _mm_set1_epi8(FIRST_SPECIAL)));
}

static inline bytes_by_kind find_kinds(const uint8_t *bytes) {
  block_bytes in;
  for (unsigned i = 0; i < 4; ++i)
    in.parts[i] = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
  return (bytes_by_kind){
      .continued = join(in.parts[0], in.parts[1], in.parts[2], in.parts[3]),
      .zero = equal(&in, 0),
      .copy = equal(&in, DW_LNS_copy),
      .advance_pc = equal(&in, DW_LNS_advance_pc),
      .advance_line = equal(&in, DW_LNS_advance_line),
      .set_file = equal(&in, DW_LNS_set_file),
      .set_column = equal(&in, DW_LNS_set_column),
      .const_add_pc = equal(&in, DW_LNS_const_add_pc),
      .fixed_advance_pc = equal(&in, DW_LNS_fixed_advance_pc),
      .set_isa = equal(&in, DW_LNS_set_isa),
      .special =
          join(are_special(in.parts[0]), are_special(in.parts[1]), are_special(in.parts[2]), are_special(in.parts[3])),
  };
}

static unsigned first_of(uint64_t set) { return (unsigned)__builtin_ctzll(set); }
static unsigned last_of(uint64_t set) { return 63 - (unsigned)__builtin_clzll(set); }
static uint64_t without_first(uint64_t set) { return set & (set - 1); }
static uint64_t up_to_first(uint64_t set) { return set ^ (set - 1); } /* all, if it is empty */

/* The bytes of the LEB128 numbers that begin at `starts`. */
static uint64_t numbers(uint64_t continued, uint64_t starts) {
  uint64_t ends = (continued + (starts & continued)) & ~continued; /* carries run through what is continued */
  uint64_t runs = continued & ~(continued + (starts & continued));
  return runs | (ends & runs << 1) | starts;
}

/* Opcodes, told from operands, up to the first one that is not known here. Only bytes that look like an opcode with operands can
 * be taken for one wrongly, and only if they follow right behind an operand's opcode; so what is an opcode is found from
 * the left to the right, but for all such groups of bytes at once, in two or three rounds. */
static uint64_t find_opcodes(const bytes_by_kind *k) {
  uint64_t one_operand = k->advance_pc | k->advance_line | k->set_file | k->set_column | k->set_isa,
           continued = k->continued;
  uint64_t opcodes = UINT64_MAX, before;
  do {
    uint64_t extended = k->zero & opcodes;
    before = opcodes;
    opcodes = ~(extended << 1 | extended << 2 | numbers(continued, (one_operand & before) << 1 | extended << 3));
  } while (opcodes != before);
  uint64_t discriminators =
      k->set_file >> 2 & /* the same number: DW_LNE_set_discriminator */
      ((k->advance_pc >> 1 & ~(continued >> 3)) | (k->advance_line >> 1 & continued >> 3 & ~(continued >> 4)));
  uint64_t too_long = one_operand & continued >> 1 & continued >> 2 & continued >> 3 & continued >> 4;
  uint64_t unknown = (k->fixed_advance_pc | too_long | (k->zero & ~discriminators)) & opcodes;
  return opcodes & up_to_first(unknown) & ~unknown;
}

/* The four bytes at `at` up to the end of a LEB128 number, without the bits that say whether there are more.
 *   ret_end  the first of these bits that says no; there is one */
static inline uint32_t number_bytes(const uint8_t *at, uint32_t *ret_end) {
  uint32_t bytes = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  uint32_t ends = ~bytes & 0x80808080u;
  *ret_end = ends & -ends;
  return bytes & (*ret_end - 1);
}

/* 7 bits of each byte; of the last one all, for a number's sign. */
static inline uint32_t without_gaps(uint32_t bytes) {
  return (bytes & 0x7f) | (bytes >> 1 & 0x3f80) | (bytes >> 2 & 0x1fc000) |
         ((uint32_t)((int32_t)bytes >> 3) & 0xffe00000);
}

static inline uint32_t unsigned_number(const uint8_t *at) {
  uint32_t end;
  return without_gaps(number_bytes(at, &end));
}

static inline uint32_t signed_number(const uint8_t *at) {
  uint32_t end, bytes = number_bytes(at, &end), sign = bytes & end >> 1;
  return without_gaps(bytes | -(sign << 1));
}

bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_step steps[256], uint8_t instruction_bytes,
                            hearth_line_block *ret) {
  bytes_by_kind k = find_kinds(bytes);
  uint64_t opcodes = find_opcodes(&k), rows = (k.special | k.copy) & opcodes;
  if (!rows)
    return false;
  unsigned last = last_of(rows);
  uint64_t addresses = 0, before = rows & ~((uint64_t)1 << last);
  uint32_t lines = 0;
  opcodes &= UINT64_MAX >> (63 - last);
  for (uint64_t left = (k.special | k.const_add_pc) & opcodes; left; left = without_first(left)) {
    hearth_line_step step = steps[bytes[first_of(left)]];
    addresses += step.addresses;
    lines += step.lines;
  }
  for (uint64_t left = k.advance_line & opcodes; left; left = without_first(left))
    lines += signed_number(bytes + first_of(left) + 1);
  for (uint64_t left = k.advance_pc & opcodes; left; left = without_first(left))
    addresses += (uint64_t)unsigned_number(bytes + first_of(left) + 1) * instruction_bytes;
  uint64_t columns = k.set_column & opcodes;
  uint64_t discriminators = k.zero & opcodes; /* of one row only */
  if (before)
    discriminators &= ~(UINT64_MAX >> (63 - last_of(before)));
  *ret = (hearth_line_block){
      .size = last + 1,
      .lines = lines,
      .addresses = addresses,
      .has_column = columns,
      .column = columns ? unsigned_number(bytes + last_of(columns) + 1) : 0,
      .discriminator = discriminators ? unsigned_number(bytes + last_of(discriminators) + 3) : 0,
  };
  return true;
}

#else

bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_step steps[256], uint8_t instruction_bytes,
                            hearth_line_block *ret) {
  (void)bytes, (void)steps, (void)instruction_bytes, (void)ret;
  return false;
}

#endif
