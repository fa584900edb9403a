/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the tallies of a trace lie in a record on its way through symbolising: in fields that traces leave at 0. */
#ifndef HEARTH_TALLIES_H
#define HEARTH_TALLIES_H

#include "hearth/mib.h"

#define HEARTH_TALLY_TEMPORARY    NumSameAllocCPU            /* freed before their thread allocated again */
#define HEARTH_TALLY_FOREIGN      NumMigration               /* freed by another thread */
#define HEARTH_TALLY_GREW         NumSameDeallocCPU          /* reallocations to more bytes */
#define HEARTH_TALLY_COPIED_BYTES TotalAccessDensity         /* that these may have copied */
#define HEARTH_TALLY_PEAK         TotalLifetimeAccessDensity /* bytes that are live at the heap's peak */
#define HEARTH_TALLY_SHARED       TotalPercentUtilized       /* blocks that take the place of another thread's */

#endif
