/* Blocks of make(0) are cold by way of second and hot by way of first; those of make(1) the other way round. */
#define NOINLINE __attribute__((noinline))
char *make(int b);
static NOINLINE char *first(int b) { char *p = make(b); p[3] = 1; return p; }
static NOINLINE char *second(int b) { char *p = make(b); p[3] = 2; return p; }
#define COLD first
#define BYTES 100
#include "two-kinds.h"
