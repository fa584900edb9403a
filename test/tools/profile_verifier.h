/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules of docs/formats/indexed.md that readers do not need for their safety: what a writer must have kept. */
#ifndef HEARTH_PROFILE_VERIFIER_H
#define HEARTH_PROFILE_VERIFIER_H

#include "hearth/profile.h"

/* Check every block, every cross reference, and the order of every table. */
hearth_status hearth_profile_verify(hearth_profile *profile, hearth_error *err);

/* Where the stack nodes of a path's module begin, as the file says. */
hearth_status hearth_profile_first_node(hearth_profile *profile, uint32_t path, uint32_t *ret_node, hearth_error *err);

#endif
