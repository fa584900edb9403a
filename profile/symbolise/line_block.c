#include "symbolise/line_block.h"

#include <dwarf.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifdef __x86_64__

#define FIRST_SPECIAL 13u
#define AVX2          __attribute__((target("avx2,bmi,popcnt")))

/* A number below 256 is divided by multiplying it with the reciprocal and dropping 16 bits. Rounding up adds less than
 * 242 / 65536 to the quotient of a special opcode's number: less than it lacks to the next one, as that is at least
 * 1 / line_range. */
bool hearth_line_block_fits(const hearth_line_header *header, hearth_line_specials *ret) {
  static const uint8_t operand_counts[FIRST_SPECIAL - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  unsigned range = header->line_range;
  if (header->first_special != FIRST_SPECIAL || range < 2 ||
      memcmp(header->operand_counts, operand_counts, sizeof operand_counts) != 0)
    return false;
  *ret = (hearth_line_specials){.line_base = (uint32_t)header->line_base,
                                .line_range = (uint8_t)range,
                                .instruction_bytes = header->instruction_bytes,
                                .most = (uint8_t)((255 - FIRST_SPECIAL) / range),
                                .reciprocal = (uint16_t)(65536 / range + 1)};
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

/* Sets of bytes: bit i is byte i. A byte that looks like an opcode may be an operand. */
typedef struct bytes_by_kind {
  uint64_t continued; /* bytes of 128 and more: in LEB128, another one follows */
  uint64_t negative;  /* at the end of a signed LEB128 number, its sign */
  uint64_t zero, copy, advance_pc, advance_line, set_file, set_column, const_add_pc, fixed_advance_pc, set_isa, special;
} bytes_by_kind;

typedef struct block_bytes {
  __m256i low, high;
} block_bytes;

AVX2 static inline uint64_t join(__m256i low, __m256i high) {
  return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline uint64_t equal(const block_bytes *in, unsigned byte) {
  __m256i all = _mm256_set1_epi8((char)byte);
  return join(_mm256_cmpeq_epi8(in->low, all), _mm256_cmpeq_epi8(in->high, all));
}

AVX2 static inline __m256i are_special(__m256i bytes) {
  return _mm256_cmpeq_epi8(bytes, _mm256_max_epu8(bytes, _mm256_set1_epi8(FIRST_SPECIAL)));
}

AVX2 static inline bytes_by_kind find_kinds(const block_bytes *in) {
  return (bytes_by_kind){
      .continued = join(in->low, in->high),
      .negative = join(_mm256_slli_epi16(in->low, 1), _mm256_slli_epi16(in->high, 1)),
      .zero = equal(in, 0),
      .copy = equal(in, DW_LNS_copy),
      .advance_pc = equal(in, DW_LNS_advance_pc),
      .advance_line = equal(in, DW_LNS_advance_line),
      .set_file = equal(in, DW_LNS_set_file),
      .set_column = equal(in, DW_LNS_set_column),
      .const_add_pc = equal(in, DW_LNS_const_add_pc),
      .fixed_advance_pc = equal(in, DW_LNS_fixed_advance_pc),
      .set_isa = equal(in, DW_LNS_set_isa),
      .special = join(are_special(in->low), are_special(in->high)),
  };
}

AVX2 static inline unsigned first_of(uint64_t set) { return (unsigned)__builtin_ctzll(set); }
AVX2 static inline unsigned count_of(uint64_t set) { return (unsigned)__builtin_popcountll(set); }
AVX2 static inline unsigned last_of(uint64_t set) { return 63 - (unsigned)__builtin_clzll(set); }
AVX2 static inline uint64_t without_first(uint64_t set) { return set & (set - 1); }
AVX2 static inline uint64_t up_to_first(uint64_t set) { return set ^ (set - 1); } /* all, if it is empty */

/* The bytes of the LEB128 numbers that begin at `starts`: a carry runs through what is continued, and one further. */
AVX2 static inline uint64_t numbers(uint64_t continued, uint64_t starts) {
  return (continued ^ (continued + (starts & continued))) | starts;
}

/* Operands of what is no operand as far as is known. */
AVX2 static inline uint64_t operands_of(const bytes_by_kind *k, uint64_t one_operand, uint64_t operands) {
  uint64_t extended = k->zero & ~operands;
  return extended << 1 | extended << 2 | numbers(k->continued, (one_operand & ~operands) << 1 | extended << 3);
}

/* Opcodes, told from operands, up to the first one that is not known here. Only bytes that look like an opcode with operands can
 * be taken for one wrongly, and only if they follow right behind an operand's opcode; so what is an opcode is found from
 * the left to the right, but for all such groups of bytes at once, in about four rounds. */
AVX2 static inline uint64_t find_opcodes(const bytes_by_kind *k) {
  uint64_t one_operand = k->advance_pc | k->advance_line | k->set_file | k->set_column | k->set_isa,
           continued = k->continued;
  uint64_t operands = 0, before;
  do {
    before = operands;
    operands = operands_of(k, one_operand, before);
  } while (operands != before);
  uint64_t opcodes = ~operands;
  uint64_t discriminators =
      k->set_file >> 2 & /* the same number: DW_LNE_set_discriminator */
      ((k->advance_pc >> 1 & ~(continued >> 3)) | (k->advance_line >> 1 & continued >> 3 & ~(continued >> 4)));
  uint64_t too_long = one_operand & continued >> 1 & continued >> 2 & continued >> 3 & continued >> 4;
  uint64_t unknown = (k->fixed_advance_pc | too_long | (k->zero & ~discriminators)) & opcodes;
  return opcodes & up_to_first(unknown) & ~unknown;
}

/* The LEB128 number at `at`, of up to four bytes. */
AVX2 static inline uint32_t unsigned_number(const uint8_t *at) {
  uint32_t bytes;
  memcpy(&bytes, at, sizeof bytes);
  uint32_t ends = ~bytes & 0x80808080u;
  bytes &= (ends & -ends) - 1;
  return (bytes & 0x7f) | (bytes >> 1 & 0x3f80) | (bytes >> 2 & 0x1fc000) | (bytes >> 3 & 0xfe00000);
}

/* 255 for each byte of a set. */
AVX2 static inline __m256i spread(uint32_t set) {
  const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
  const __m256i from = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)set), from);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits);
}

/* The sum of those that are in a set, in four parts. */
AVX2 static inline __m256i sum_of(block_bytes in, uint64_t set) {
  const __m256i zero = _mm256_setzero_si256();
  return _mm256_add_epi64(_mm256_sad_epu8(_mm256_and_si256(in.low, spread((uint32_t)set)), zero),
                          _mm256_sad_epu8(_mm256_and_si256(in.high, spread((uint32_t)(set >> 32))), zero));
}

AVX2 static inline uint64_t total(__m256i parts) {
  __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(parts), _mm256_extracti128_si256(parts, 1));
  return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum)));
}

/* Each byte divided by a number, of which the reciprocal is given. */
AVX2 static inline __m256i divided(__m256i bytes, uint16_t by) {
  const __m256i reciprocal = _mm256_set1_epi16((short)by), zero = _mm256_setzero_si256();
  return _mm256_packus_epi16(_mm256_mulhi_epu16(_mm256_unpacklo_epi8(bytes, zero), reciprocal),
                             _mm256_mulhi_epu16(_mm256_unpackhi_epi8(bytes, zero), reciprocal));
}

/* What special opcodes and those like them add. */
AVX2 static inline void add_special(const hearth_line_specials *s, const block_bytes *in, const bytes_by_kind *k,
                                    uint64_t opcodes, hearth_line_block *ret) {
  const __m256i first = _mm256_set1_epi8(FIRST_SPECIAL);
  uint64_t special = k->special & opcodes;
  block_bytes numbers = {_mm256_sub_epi8(in->low, first), _mm256_sub_epi8(in->high, first)};
  block_bytes addresses = {divided(numbers.low, s->reciprocal), divided(numbers.high, s->reciprocal)};
  uint64_t steps = total(sum_of(addresses, special)), all = total(sum_of(numbers, special));
  ret->addresses = (steps + s->most * count_of(k->const_add_pc & opcodes)) * s->instruction_bytes;
  ret->lines = (uint32_t)(all - steps * s->line_range) + s->line_base * count_of(special);
}

/* The sum of the signed LEB128 numbers that begin at `starts`: byte by byte, of all numbers at once. */
AVX2 static inline uint32_t signed_sum(const block_bytes *in, const bytes_by_kind *k, uint64_t starts) {
  const __m256i bits = _mm256_set1_epi8(0x7f);
  block_bytes digits = {_mm256_and_si256(in->low, bits), _mm256_and_si256(in->high, bits)};
  uint64_t ends = k->negative & ~k->continued, second = (starts & k->continued) << 1,
           third = (second & k->continued) << 1, fourth = (third & k->continued) << 1;
  __m256i sums =
      _mm256_add_epi64(sum_of(digits, starts), _mm256_add_epi64(_mm256_slli_epi64(sum_of(digits, second), 7),
                                                                _mm256_slli_epi64(sum_of(digits, third), 14)));
  if (fourth)
    sums = _mm256_add_epi64(sums, _mm256_slli_epi64(sum_of(digits, fourth), 21));
  return (uint32_t)total(sums) - (count_of(starts & ends) << 7) - (count_of(second & ends) << 14) -
         (count_of(third & ends) << 21) - (count_of(fourth & ends) << 28);
}

AVX2 bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_specials *specials, hearth_line_block *ret) {
  const block_bytes in = {_mm256_loadu_si256((const __m256i *)(const void *)bytes),
                          _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32))};
  bytes_by_kind k = find_kinds(&in);
  uint64_t opcodes = find_opcodes(&k), rows = (k.special | k.copy) & opcodes;
  if (!rows)
    return false;
  unsigned last = last_of(rows);
  uint64_t before = rows & ~((uint64_t)1 << last);
  opcodes &= UINT64_MAX >> (63 - last);
  add_special(specials, &in, &k, opcodes, ret);
  ret->lines += signed_sum(&in, &k, (k.advance_line & opcodes) << 1);
  for (uint64_t left = k.advance_pc & opcodes; left; left = without_first(left))
    ret->addresses += (uint64_t)unsigned_number(bytes + first_of(left) + 1) * specials->instruction_bytes;
  uint64_t columns = k.set_column & opcodes;
  uint64_t discriminators = k.zero & opcodes; /* of one row only */
  if (before)
    discriminators &= ~(UINT64_MAX >> (63 - last_of(before)));
  ret->size = last + 1;
  ret->has_column = columns;
  ret->column = columns ? unsigned_number(bytes + last_of(columns) + 1) : 0;
  ret->discriminator = discriminators ? unsigned_number(bytes + last_of(discriminators) + 3) : 0;
  return true;
}

#else

bool hearth_line_block_fits(const hearth_line_header *header, hearth_line_specials *ret) {
  (void)header, (void)ret;
  return false;
}

bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_specials *specials, hearth_line_block *ret) {
  (void)bytes, (void)specials, (void)ret;
  return false;
}

#endif
