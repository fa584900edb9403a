/* Many opcodes of a line program at once, for whom only asks what they do together. Of a program's hundreds of thousands
 * of opcodes a profile asks for a few hundred rows; on the way there, a jump for each opcode is guessed wrong by the
 * processor about every time, as compilers mix half a dozen of them. Here, one comparison of 16 bytes finds the opcodes of a
 * kind, and only operands, whose lengths differ, are followed one by one. */
#ifndef HEARTH_SYMBOLISE_LINE_BLOCK_H
#define HEARTH_SYMBOLISE_LINE_BLOCK_H

#include "symbolise/line_header.h"

#define HEARTH_LINE_BLOCK_BYTES 64u /* at most passed at once */
#define HEARTH_LINE_BLOCK_READ  68u /* bytes that must be there: an operand may go beyond the end */

/* What an opcode adds to the address and the line: by the opcode. Lines are modulo 2^32. */
typedef struct hearth_line_step {
  uint32_t addresses, lines;
} hearth_line_step;

/* What opcodes do together; they end with one that makes a row. */
typedef struct hearth_line_block {
  unsigned size; /* bytes */
  uint32_t lines;
  uint64_t addresses;
  uint32_t column; /* if has_column: the last one that was set */
  bool has_column;
  uint32_t discriminator; /* of the last row */
} hearth_line_block;

/* Whether a program's opcodes are those that hearth_line_block_read knows: of DWARF 3 to 5, as all compilers write them. */
bool hearth_line_block_fits(const hearth_line_header *header);

/* Read opcodes from an opcode on.
 *   bytes  HEARTH_LINE_BLOCK_READ of them
 *   steps  of all opcodes; those that add nothing have zeros
 * False: what comes first is too rare, or too long, to be known here, or the processor cannot do this. */
bool hearth_line_block_read(const uint8_t *bytes, const hearth_line_step steps[256], uint8_t instruction_bytes,
                            hearth_line_block *ret);

#endif
