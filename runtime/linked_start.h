/* The start of libhearth_rt.so. */
#ifndef HEARTH_RUNTIME_LINKED_START_H
#define HEARTH_RUNTIME_LINKED_START_H

#include <stdbool.h>

/* Whether the program's malloc is the runtime's: it was linked with the library, or the library is preloaded. Else an
 * instrumented plug-in has brought it, or another allocator comes before it: then this has told so, and has made the counters
 * that instrumented code adds to. */
bool hearth_linked_is_to_record(void);

#endif
