/* Many opcodes of a line program at once, for whom only asks what they do together. Of a program's hundreds of thousands
 * of opcodes a profile asks for a few hundred rows; on the way there, a jump for each opcode is guessed wrong by the
 * processor about every time, as compilers mix half a dozen of them. Here, one comparison of 32 bytes finds the opcodes of a
 * kind, and what special opcodes and changes of the line add is summed without a loop. */
#ifndef HEARTH_SYMBOLISE_LINE_BLOCK_H
#define HEARTH_SYMBOLISE_LINE_BLOCK_H

#include "symbolise/line_header.h"

#define HEARTH_LINE_BLOCK_BYTES 64u /* at most passed at once */
#define HEARTH_LINE_BLOCK_READ  68u /* bytes that must be there: an operand may go beyond the end */

/* What opcodes do together; they end with one that makes a row. */
typedef struct hearth_line_block {
  unsigned size; /* bytes */
  uint32_t lines;
  uint64_t addresses;
  uint32_t column; /* if has_column: the last one that was set */
  bool has_column;
  uint32_t discriminator; /* of the last row */
} hearth_line_block;

/* What a program's special opcodes mean: number n of them adds n / line_range to the address, in instructions, and
 * line_base + n % line_range to the line. */
typedef struct hearth_line_specials {
  uint32_t line_base; /* modulo 2^32 */
  uint8_t line_range, instruction_bytes;
  uint8_t most;        /* instructions that the last one adds */
  uint16_t reciprocal; /* 65536 / line_range, rounded up */
} hearth_line_specials;

/* Whether hearth_line_block_read knows a program's opcodes, those of DWARF 3 to 5, as all compilers write them, and the
 * processor has what it takes (AVX2). */
bool hearth_line_block_fits(const hearth_line_header *header, hearth_line_specials *ret);

/* Read opcodes from an opcode on.
 *   bytes     HEARTH_LINE_BLOCK_READ of them
 *   specials  of a program that fits
 * False: what comes first is too rare, or too long, to be known here. */
bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_specials *specials, hearth_line_block *ret);

#endif
