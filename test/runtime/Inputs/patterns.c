/* Accesses in all the ways that instrumentation may count together. Each context has blocks of one size, which no other
 * has: what is counted for a size is what is counted for a context. */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef struct record {
  long key;
  long parts[3];
  long next;
} record;

NOINLINE static void *use(void *memory) {
  __asm__ volatile("" : "+r"(memory) : : "memory");
  return memory;
}

NOINLINE static void fill(record *to, const record *from, int deep) {
  to->key = from->key + 1;
  to->next = from->next;
  if (deep)
    to->parts[1]++;
  memcpy(to->parts, from->parts, sizeof to->parts);
  to->key += deep;
}

NOINLINE static int *grow(int *block, int by) {
  block[0] = by;
  block[12] = by + 1;
  int *grown = realloc(block, 200);
  if (!grown)
    exit(1);
  grown[1] = by;
  grown[13] = grown[1] + 2;
  grown[40] = by + 3;
  return grown;
}

NOINLINE static void add_up(long *sum, const long *numbers, long n) {
  for (long i = 0; i < n; i++)
    *sum += numbers[i] ^ *sum;
}

NOINLINE static void backwards(unsigned char *bytes, long n) {
  for (long i = n - 1; i >= 0; i -= 3)
    bytes[i] = (unsigned char)(bytes[i] + i);
}

NOINLINE static long until(const long *numbers, long n, long *reads) {
  long i = 0;
  for (; i < n && numbers[i] != 7; i++)
    reads[0]++;
  return i;
}

NOINLINE static void matrix(int *cells, int rows, int columns) {
  for (int c = 0; c < columns; c++)
    for (int r = 0; r < rows; r++)
      cells[r * columns + c] += r;
}

NOINLINE static void either(record *a, record *b, int which) {
  record local = {0};
  record *at = which == 0 ? a : which == 1 ? b : &local;
  at->key = which;
  at->next = which;
  use(&local);
}

NOINLINE static void two_ways(record *a, int n) {
  for (int i = 0; i < n; i++) {
    a->key += i;
    if (i % 3 == 0)
      a->next++;
    else
      use(a);
    a->parts[2] = a->key;
  }
}

NOINLINE static record *stop(record *a, int now) {
  a->key = 5;
  if (now)
    exit(now - 1); /* what would have come is not to be counted */
  a->next = 6;
  return a;
}

/* Ways with one, two and three accesses, some of which leave. */
NOINLINE static long walk(const record *at, long wanted) {
  for (; at; at = (const record *)at->next) {
    if (at->key == wanted && at->parts[0])
      return at->parts[1];
    if (at->key > wanted && at->parts[2] != wanted)
      break;
  }
  return 0;
}

NOINLINE static long choose(record *a, int how) {
  a->key++;
  switch (how) {
  case 0:
    return a->parts[0];
  case 1:
    a->parts[1]++;
    break;
  case 2:
    use(a);
    break;
  case 3:
  case 4:
    if (a->key % 2)
      return 0;
    break;
  case 5:
    exit(9);
  default:
    while (a->key % 7)
      a->key++;
  }
  return a->next + a->parts[2];
}

NOINLINE static long last(const long *end, long n) {
  long sum = 0;
  while (n-- > 0) {
    if (end[-1] & 1)
      sum += end[-2];
    else if (end[-3])
      return sum + end[-1];
    end--;
  }
  return sum;
}

/* Elements of one block at any places, on ways that meet, are left and go round. */
NOINLINE static long elements(long *numbers, const int *order, int n) {
  long sum = 0;
  for (int i = 0; i + 2 < n; i++) {
    long *at = numbers + order[i];
    if (*at % 3 == 0) {
      sum += at[order[i + 1]] + numbers[order[i + 2]];
    } else if (*at % 5 == 0) {
      numbers[order[i + 1]]++;
      use(numbers);
    }
    if (numbers[order[i + 2]] == 77)
      return sum + at[1];
    for (int k = 0; k < 9 && numbers[sum & 63] > 50; k++)
      sum += numbers[order[sum & 7]] + 1;
  }
  return sum;
}

/* Pointers that walk to ends that only the memory knows, by steps of several lengths, forwards and back. */
NOINLINE static long tokens(const char *text, const char *seen, char *longest) {
  const char *at = text;
  long n = 0;
  while (*at) {
    while (*at == ' ')
      at++;
    const char *word = at;
    while (*at && *at != ' ')
      at += at[0] == '\\' && at[1] ? 2 : 1;
    if (at - word > *longest)
      *longest = (char)(at - word);
    if (at[0] && at[1] == '!')
      use(longest);
    for (const char *back = at; back > word && *--back != 'e';)
      n += seen[(unsigned char)*back];
  }
  return n;
}

/* One pointer walks two blocks in turn: each keeps its counts. */
NOINLINE static long in_turn(const long *left, const long *right, int rounds) {
  long sum = 0;
  for (int i = 0; i < rounds; i++)
    for (const long *at = i % 2 ? left : right; *at; at++)
      sum += *at;
  const long *at = right;
  for (const long *other = left; *at && *other != *at;) {
    const long *last = at;
    at = other + 1;
    other = last;
  }
  return sum;
}

NOINLINE static void walk_pointers(void) {
  static const char text[] = "one  two\\ e !three   four\\\\five ! six";
  char *copy = use(calloc(1, 130)), *seen = use(calloc(1, 260)), *longest = use(calloc(1, 3));
  memcpy(copy, text, sizeof text);
  for (int i = 0; i < 256; i++)
    seen[i] = (char)(i % 3);
  for (size_t i = 0; i < sizeof text; i++)
    tokens(copy + i, seen, longest);
  long *left = use(calloc(30, 8)), *right = use(calloc(40, 8));
  for (int i = 0; i < 29; i++)
    left[i] = i + 1, right[i] = i + 100;
  in_turn(left, right, 7);
}

NOINLINE static void collect(void) {
  record *list = NULL;
  for (long i = 0; i < 20; i++) {
    record *head = use(calloc(1, 88));
    *head = (record){.key = 20 - i, .next = (long)list};
    head->parts[0] = i % 2;
    head->parts[2] = i % 3;
    list = head;
  }
  for (long i = 0; i < 25; i++)
    walk(list, i);
  record *chosen = use(calloc(1, 96));
  for (int i = 0; i < 40; i++)
    choose(chosen, i % 8 == 5 ? 1 : i % 8);
  long *numbers = use(calloc(100, 8));
  for (long i = 0; i < 100; i++)
    numbers[i] = i % 5;
  last(numbers + 100, 97);
  long *any = use(calloc(150, 8));
  int *order = use(calloc(41, sizeof *order));
  for (int i = 0; i < 150; i++)
    any[i] = i * 37 % 101;
  for (int i = 0; i < 41; i++)
    order[i] = i * 29 % 70;
  for (int n = 3; n <= 41; n++)
    elements(any, order, n);
}

/* Several walks in one block: forwards, backwards, in wide steps, and in one place. */
typedef struct mixed {
  int total;
  int digits[60];
  char bytes[200];
} mixed;

NOINLINE static void walk_together(mixed *m, int n) {
  for (int i = 0; i < n; i++) {
    m->digits[i] += n;
    m->digits[59 - i] = i;
    m->bytes[i * 9 % 200 & 1] = (char)i;
    m->bytes[3 * i]++;
    m->total = i;
  }
}

/* Neighbouring granules, and no more: from each offset on. */
NOINLINE static void copy_digits(int *to, const int *from, long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[i] ^ from[i + 1];
}

NOINLINE static void walk_blocks(void) {
  mixed *m = use(calloc(1, sizeof *m));
  int *to = use(calloc(101, 4)), *from = use(calloc(103, 4));
  for (int n = 0; n <= 59; n++)
    walk_together(m, n);
  for (int at = 0; at < 40; at++)
    for (long n = 0; n < 40; n += 1 + n / 8)
      copy_digits(to + at, from + at, n);
}

/* Calls between accesses that can neither free nor end, though they loop, write and call each other. */
NOINLINE static long settle(long *cells, long n) {
  while (n > 0 && cells[n - 1] < 40)
    cells[--n] += 3;
  return n > 20 ? settle(cells, n / 2) + 1 : n;
}

NOINLINE static void around(record *r, long *cells, long n) {
  r->key++;
  r->parts[0] = settle(cells, n);
  r->key += 2;
  while (r->parts[1] < n) {
    r->parts[1] += 1 + settle(cells, r->parts[1]) % 2;
    r->next++;
  }
}

/* Some callers have what they pass on the stack, some on the heap. */
NOINLINE static void on_stack_only(long *to, const long *from, long n) {
  for (long i = 0; i < n; i += 1 + from[i] % 2)
    *to += from[i];
}

NOINLINE static void anywhere(long *to, const long *from, long n) {
  on_stack_only(to, from, n);
  to[0] += from[1];
}

NOINLINE static void call_each_other(void) {
  record *r = use(calloc(1, 104));
  long *cells = use(calloc(1, 640)), *heap = use(calloc(1, 120)), local[15] = {1, 2, 3}, sum = 0;
  for (long n = 0; n < 80; n++)
    around(r, cells, n);
  for (long n = 2; n < 15; n++) {
    use(local);
    on_stack_only(&sum, local, n);
    anywhere(&sum, local, n);
    anywhere(&sum, heap, n);
    anywhere(heap, local, n);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  collect();
  walk_pointers();
  walk_blocks();
  call_each_other();
  record *first = use(calloc(1, 40)), *second = use(calloc(1, 41));
  for (int i = 0; i < 10; i++)
    fill(second, first, i % 2);
  int *grown = use(grow(use(malloc(100)), argc));
  long *sum = use(calloc(1, 8)), *numbers = use(calloc(1000, 8));
  for (long n = 0; n < 1000; n += 77)
    add_up(sum, numbers, n);
  unsigned char *bytes = use(calloc(1, 777));
  backwards(bytes, 777);
  backwards(bytes, 1);
  backwards(bytes, 0);
  long *reads = use(calloc(1, 16));
  numbers[500] = 7;
  until(numbers, 1000, reads);
  until(numbers, 300, reads);
  int *cells = use(calloc(31 * 17, sizeof *cells));
  matrix(cells, 31, 17);
  record *a = use(calloc(1, 48)), *b = use(calloc(1, 56));
  for (int i = 0; i < 9; i++)
    either(a, b, i % 3);
  two_ways(b, 100);
  memset(use(malloc(2000)), argc, 2000);
  memset(use(malloc(50)), argc, 50);
  stop(use(malloc(64)), 0);
  free(use(grown));
  stop(use(malloc(72)), argc);
  return 2;
}
