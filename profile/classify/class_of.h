/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A class by the numbers that it is made from. */
#ifndef HEARTH_CLASS_OF_H
#define HEARTH_CLASS_OF_H

#include "hearth/classify.h"

typedef struct class_facts {
  double density, lifetime_ns, accesses;
} class_facts;

/* Of a context with blocks. */
class_facts class_facts_of(const hearth_classifier *classifier, const hearth_mib *mib);
hearth_class class_of(const hearth_classifier *classifier, const class_facts *facts);

#endif
