#ifndef HEARTH_REGION_CHECK_H
#define HEARTH_REGION_CHECK_H

#include "region.h"

/* Check every structure against every other; expensive. Takes the lock. */
bool hearth_region_is_valid(struct hearth_region *region);

#endif
