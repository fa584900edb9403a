/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles that many hosts share: without names (docs/fleet.md). */
#ifndef HEARTH_FLEET_H
#define HEARTH_FLEET_H

#include "hearth/builder.h"

HEARTH_C_BEGIN

/* Take the names of functions, types and binaries, all paths, and the days and commands of runs out of a
 * builder. Ids stay: a compile with the profile gives the same hints. */
hearth_status hearth_builder_strip(hearth_builder *builder, hearth_error *err);

HEARTH_C_END
#endif
