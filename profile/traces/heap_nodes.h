/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the writers of heap dumps share; each is one file. */
#ifndef HEARTH_HEAP_INTERNAL_H
#define HEARTH_HEAP_INTERNAL_H

#include "hearth/heap_view.h"

/* How a node is called, as in views of profiles. Free with free(); NULL: out of memory. */
char *hearth_heap_node_name(const hearth_heap_node *node, const hearth_heap_view_options *options);

#endif
