/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A class by the numbers that it is made from. */
#ifndef HEARTH_CLASS_OF_H
#define HEARTH_CLASS_OF_H

#include "hearth/classify.h"

#define HEARTH_USES_UNKNOWN (-1.0)

typedef struct class_facts {
  double density, lifetime_ns, accesses;
  double first_accesses,
      pages_ns; /* of the first use of all blocks; their lives, one of part of a page for that part */
  /* Uses of a page full of the context's blocks, in the time for which cold memory is left alone: as the counters of picked blocks
   * show them, and as looks at pages do. */
  double counted_uses, looked_uses;
} class_facts;

/* Of a context with blocks. */
class_facts class_facts_of(const hearth_classifier *classifier, const hearth_mib *mib);
/* By the classifier's rule; and by that of HEARTH_CLASSIFY_AUTO, where it is known whether the context is hot. */
hearth_class class_of(const hearth_classifier *classifier, const class_facts *facts);
hearth_class class_of_heat(const hearth_classifier *classifier, const class_facts *facts, bool is_hot);

#endif
