/* Many callers of one allocation call, so that its table is large; a small function that is inlined in many places. */
#include "word.h"

enum { CALLERS = 30 };

void *allocate(size_t size);

static void *written(char *block) {
  *block = 0; /* so that no call is the last thing that its caller does */
  return block;
}

#define CALL(number)                                                                                                   \
  case number:                                                                                                         \
    return written(allocate(size))

NOINLINE static void *get(int caller, size_t size) {
  switch (caller) {
    CALL(0);
    CALL(1);
    CALL(2);
    CALL(3);
    CALL(4);
    CALL(5);
    CALL(6);
    CALL(7);
    CALL(8);
    CALL(9);
    CALL(10);
    CALL(11);
    CALL(12);
    CALL(13);
    CALL(14);
    CALL(15);
    CALL(16);
    CALL(17);
    CALL(18);
    CALL(19);
    CALL(20);
    CALL(21);
    CALL(22);
    CALL(23);
    CALL(24);
    CALL(25);
    CALL(26);
    CALL(27);
    CALL(28);
    CALL(29);
  }
  return NULL;
}

/* Inlined into each of these: its one site is in four functions. */
static inline char *make_payload(void) { return written(allocate(200)); }
NOINLINE static char *first(void) { return make_payload(); }
NOINLINE static char *second(void) { return make_payload(); }
NOINLINE static char *third(void) { return make_payload(); }
NOINLINE static char *fourth(void) { return make_payload(); }
NOINLINE static struct node *make_node(void) { return written(allocate(sizeof(struct node))); }

int main(void) {
  struct node *lists[CALLERS / 2] = {NULL}, *copies = NULL;
  for (long i = 0; i < 300; i += 4) {
    copies = prepend(copies, make_node(), first(), i);
    copies = prepend(copies, make_node(), second(), i);
    copies = prepend(copies, make_node(), third(), i);
    copies = prepend(copies, make_node(), fourth(), i);
    void *blocks[CALLERS];
    for (int k = 0; k < CALLERS; k++) /* one call, so that the contexts part in `get` */
      blocks[k] = get(k, k % 2 ? 200 : sizeof(struct node));
    for (int k = 0; k < CALLERS; k += 2)
      lists[k / 2] = prepend(lists[k / 2], blocks[k], blocks[k + 1], i);
  }
  for (int k = 0; k < CALLERS / 2; k++)
    use("callers", lists[k]);
  use("copies", copies);
  return 0;
}
