/* The helpers through which all blocks of this program are allocated. */
#ifndef ALLOCATE_H
#define ALLOCATE_H
#include <stddef.h>

#define BLOCKS 200

void *helper(size_t n);
void *build(size_t n);

/* Inlined into its callers. */
static inline void *wrap(size_t n) { return helper(n); }

/* callers.c, of blocks: cold ones are never accessed, hot ones all the time. */
enum { LINES, ONE_LINE, ONE_COLUMN, LOOPS, WRAPPED, LEVELS, KINDS };
extern char *cold[KINDS][BLOCKS], *hot[KINDS][BLOCKS];
extern char *more[KINDS][BLOCKS]; /* of calls that are inserted after profiling */
void fill(void);

#endif
