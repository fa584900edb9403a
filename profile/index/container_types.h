/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The type of a buffer of the C++ library is that of the string or container that owns it: the class of the innermost
 * function of a stack that is a member of one, as the functions are named. */
#ifndef HEARTH_CONTAINER_TYPES_H
#define HEARTH_CONTAINER_TYPES_H

#include "builder_tables.h"

/* What is known of functions. All zero is empty; free `of_function`. */
typedef struct hearth_container_types {
  uint64_t *of_function; /* by row of the builder */
  size_t room, count;
} hearth_container_types;

/* The id of the type that allocates at this node of the builder, which has its name from now on; 0: code outside of the
 * library, or in none of its containers. E_NOMEM, E_FULL. */
hearth_status hearth_container_type_find(hearth_container_types *types, hearth_builder *builder, uint32_t node,
                                         uint64_t *ret_id, hearth_error *err);

#endif
