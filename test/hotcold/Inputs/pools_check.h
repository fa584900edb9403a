#ifndef HEARTH_POOLS_CHECK_H
#define HEARTH_POOLS_CHECK_H

#include <stdbool.h>

/* Check the tables of tiles, the bits of blocks, and the lists and counts of all pools against each other; expensive. Both regions,
 * too. No other thread may allocate or free meanwhile. */
bool hearth_pools_are_valid(void);

#endif
