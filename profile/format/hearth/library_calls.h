/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of library calls, a text: which functions of libraries allocate with which hint. Change
 * docs/formats/library-calls.md in the same commit. */
#ifndef HEARTH_FORMAT_LIBRARY_CALLS_H
#define HEARTH_FORMAT_LIBRARY_CALLS_H

#define HEARTH_LIBRARY_CALLS_HEAD   "hearth-library-calls 1" /* the first line */
#define HEARTH_LIBRARY_CALLS_MODULE '@'                      /* begins the line of a module: its build id follows */
#define HEARTH_LIBRARY_CALLS_PATH '+' /* begins the line of a return address: its offset in the module's file follows */
#define HEARTH_LIBRARY_CALLS_NONE "-" /* in place of a hint: there is none for other heights */
#define HEARTH_LIBRARY_CALLS_PLAN "plan" /* of the second one; then the plan's id */

enum {
  HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX = 49151,
  HEARTH_LIBRARY_CALLS_BUILD_ID_MAX = 32, /* bytes */
  HEARTH_LIBRARY_CALLS_BYTES_MAX = 16 << 20,
};

#endif
