/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For cold=auto: which tiles of the cold range are to leave memory. A tile that was sent out, and has more than a quarter of those
 * pages in memory at the next round, is not cold, whatever its blocks' hints say (or it cannot leave): it stays for one round, then
 * for three, up to 63, as often as that happens again. One that comes back later was out for a round, which is what it left
 * for: it leaves again, and a return before is forgotten. For the thread of page_out.h alone. */
#ifndef HEARTH_HOTCOLD_WARM_TILES_H
#define HEARTH_HOTCOLD_WARM_TILES_H

#include <stdbool.h>
#include <stddef.h>

/* Room for a range of so many bytes, whole pages. False: no memory. */
bool hearth_warm_tiles_create(size_t bytes);

/* The first `bytes` of the range may be in use. Before a round: see which tiles came back, and choose those that leave. */
void hearth_warm_tiles_look(char *base, size_t bytes);

/* The next stretch from `from` on, an offset, that is to leave: its offset; *ret_bytes 0: there is none. */
size_t hearth_warm_tiles_stretch(size_t from, size_t bytes, size_t *ret_bytes);

#endif
