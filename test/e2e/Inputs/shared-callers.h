/* mid is called by first and second, and calls make, which has two allocation calls, of 100 and of 200 bytes. By way of second
 * the first one's blocks are cold and the other one's hot: bits of the one's callers must not make the other's cold as well. */
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
NOINLINE char *make(int b);
NOINLINE char *mid(int b) { char *p = make(b); p[0] = 1; return p; }
NOINLINE char *other(int b) { char *p = make(b); p[0] = 2; return p; }
NOINLINE char *first(int b) { char *p = mid(b); p[1] = 1; return p; }
NOINLINE char *second(int b) { char *p = mid(b); p[1] = 2; return p; }
#define COLD other
#define BYTES 200
#include "two-kinds.h"
