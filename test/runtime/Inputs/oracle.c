/* Counts accesses to heap blocks in the slowest and plainest way: instrumented by LLVM with callbacks (-memprof-use-callbacks),
 * a program calls these functions for each access, and each looks up the block. Prints to the file $ORACLE a line for each size
 * of blocks: "SIZE BLOCKS ACCESSES"; and to $ORACLE_STACKS, if that is set, one for each call stack that allocated:
 * "BLOCKS BYTES ACCESSES ADDRESS...", the addresses of calls, leaf first, found by frame pointers. Functions named oracle_*
 * stand for those of the C library whose accesses count (annotate/instrument/library_accesses.def), where the program is made to call them.
 * Shares nothing with the runtime. One thread; memory is never reused. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)1 << 32)
#define MOST_BLOCKS ((size_t)1 << 22)
#define MOST_STACKS ((size_t)1 << 20) /* a power of two; half of the places stay free */
#define MOST_DEPTH  255

typedef struct stack {
  size_t depth, blocks, bytes, accesses;
  const uintptr_t *calls; /* NULL: the place is free */
} stack;

typedef struct block {
  uintptr_t start;
  size_t size, accesses;
  stack *stack;
} block;

typedef struct frame {
  const struct frame *caller;
  uintptr_t return_address;
} frame;

static char *arena;
static size_t used, n_blocks, n_stacks;
static block *blocks; /* by address, as the arena only grows */
static stack *stacks; /* by hash; NULL: nobody wants to know */
extern void *__libc_stack_end;

static void *map(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  return memory;
}

static size_t unwind(const frame *at, uintptr_t *calls) {
  size_t depth = 0;
  while (at->return_address && depth < MOST_DEPTH) {
    calls[depth++] = at->return_address - 1;
    if (at->caller <= at || (void *)at->caller >= __libc_stack_end)
      break;
    at = at->caller;
  }
  return depth;
}

static stack *find_stack(const frame *at) {
  uintptr_t calls[MOST_DEPTH], hash = 0;
  size_t depth = unwind(at, calls), size = depth * sizeof *calls;
  for (size_t i = 0; i < depth; i++)
    hash = (hash ^ calls[i]) * 0x9e3779b97f4a7c15;
  for (size_t i = hash >> 32;; i++) {
    stack *place = &stacks[i % MOST_STACKS];
    if (!place->calls) {
      uintptr_t *own = map(size);
      if (++n_stacks > MOST_STACKS / 2)
        abort();
      memcpy(own, calls, size);
      *place = (stack){.depth = depth, .calls = own};
    }
    if (place->depth == depth && memcmp(place->calls, calls, size) == 0)
      return place;
  }
}

static void *take(size_t size, size_t alignment, const frame *at) {
  if (!arena) {
    arena = map(ARENA_BYTES);
    blocks = map(MOST_BLOCKS * sizeof *blocks);
    if (getenv("ORACLE_STACKS"))
      stacks = map(MOST_STACKS * sizeof *stacks);
  }
  used = (used + alignment - 1) / alignment * alignment;
  if (n_blocks == MOST_BLOCKS || used + size + 1 > ARENA_BYTES)
    abort();
  blocks[n_blocks++] = (block){.start = (uintptr_t)arena + used, .size = size, .stack = stacks ? find_stack(at) : NULL};
  void *memory = arena + used;
  used += size + 1; /* no two blocks begin at one address */
  return memory;
}

static block *find(uintptr_t address) {
  size_t low = 0, high = n_blocks;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && address - blocks[low - 1].start < blocks[low - 1].size ? &blocks[low - 1] : NULL;
}

static void count(uintptr_t address) {
  block *found = find(address);
  if (found)
    found->accesses++;
}

static void count_range(const void *memory, size_t size) {
  for (size_t at = 0; at < size; at += 8)
    count((uintptr_t)memory + at);
}

#define CALLER __builtin_frame_address(0)

void *malloc(size_t size) { return take(size, 16, CALLER); }
void *calloc(size_t n, size_t size) { return take(n * size, 16, CALLER); }
void free(void *memory) { (void)memory; }
void *aligned_alloc(size_t alignment, size_t size) { return take(size, alignment, CALLER); }

void *realloc(void *memory, size_t size) {
  char *to = take(size, 16, CALLER);
  const char *from = memory;
  block *old = find((uintptr_t)from);
  for (size_t i = 0; old && i < old->size && i < size; i++)
    to[i] = from[i];
  return to;
}

void __memprof_init(void) {}
void __memprof_version_mismatch_check_v1(void) {}
void __memprof_load(uintptr_t address) { count(address); }
void __memprof_store(uintptr_t address) { count(address); }

void *__memprof_memcpy(void *to, const void *from, size_t size) {
  count_range(from, size);
  count_range(to, size);
  return memcpy(to, from, size);
}

void *__memprof_memmove(void *to, const void *from, size_t size) {
  count_range(from, size);
  count_range(to, size);
  return memmove(to, from, size);
}

void *__memprof_memset(void *to, int byte, size_t size) {
  count_range(to, size);
  return memset(to, byte, size);
}

size_t oracle_strlen(const char *string) {
  size_t length = strlen(string);
  count_range(string, length + 1);
  return length;
}

static void count_string(const char *string) { oracle_strlen(string); }

char *oracle_strcpy(char *to, const char *from) {
  strcpy(to, from);
  count_string(from);
  count_string(to);
  return to;
}

char *oracle_stpcpy(char *to, const char *from) { return oracle_strcpy(to, from) + strlen(from); }

char *oracle_strcat(char *to, const char *from) {
  strcat(to, from);
  count_string(from);
  count_string(to);
  return to;
}

/* The C library finds the length, then copies. */
static void count_printed(const char *string) {
  count_string(string);
  count_string(string);
}

int oracle_puts(const char *string) {
  count_printed(string);
  return puts(string);
}

int oracle_fputs(const char *string, FILE *file) {
  count_printed(string);
  count((uintptr_t)file);
  return fputs(string, file);
}

/* Byte by byte, until they differ or, with `ends`, both end. */
static void count_compared(const char *a, const char *b, size_t most, int ends) {
  size_t n = 0;
  while (n < most && a[n] == b[n] && (!ends || a[n]))
    n++;
  n += n < most;
  count_range(a, n);
  count_range(b, n);
}

static void count_most(const char *string, size_t most) {
  size_t length = strnlen(string, most);
  count_range(string, length < most ? length + 1 : most);
}

/* A function that counts in front of its call, and one that counts behind it. */
#define BEFORE(type, name, parameters, counted, call)                                                                  \
  type oracle_##name parameters {                                                                                      \
    counted;                                                                                                           \
    return call;                                                                                                       \
  }
#define BEHIND(type, name, parameters, call, counted)                                                                  \
  type oracle_##name parameters {                                                                                      \
    type result = call;                                                                                                \
    counted;                                                                                                           \
    return result;                                                                                                     \
  }
#define PLACE(pointer) count((uintptr_t)(pointer))
#define UNTIL(from, found, most)                                                                                       \
  count_range(from, (found) ? (size_t)((const char *)(found) - (const char *)(from)) + 1 : (most))

BEFORE(int, strcmp, (const char *a, const char *b), count_compared(a, b, SIZE_MAX, 1), strcmp(a, b))
BEFORE(int, strcoll, (const char *a, const char *b), count_compared(a, b, SIZE_MAX, 1), strcoll(a, b))
BEFORE(int, strncmp, (const char *a, const char *b, size_t n), count_compared(a, b, n, 1), strncmp(a, b, n))
BEFORE(int, memcmp, (const void *a, const void *b, size_t n), count_compared(a, b, n, 0), memcmp(a, b, n))
BEFORE(int, bcmp, (const void *a, const void *b, size_t n), count_compared(a, b, n, 0), memcmp(a, b, n))
BEFORE(char *, strrchr, (const char *s, int c), count_string(s), strrchr(s, c))
BEFORE(size_t, strnlen, (const char *s, size_t n), count_most(s, n), strnlen(s, n))
BEHIND(void *, memchr, (const void *s, int c, size_t n), memchr(s, c, n), UNTIL(s, result, n))
BEHIND(char *, strchr, (const char *s, int c), strchr(s, c), UNTIL(s, result, strlen(s) + 1))
BEHIND(char *, strstr, (const char *s, const char *t), strstr(s, t), (UNTIL(s, result, strlen(s) + 1), count_string(t)))
BEHIND(char *, strpbrk, (const char *s, const char *t), strpbrk(s, t),
       (UNTIL(s, result, strlen(s) + 1), count_string(t)))
BEHIND(size_t, strspn, (const char *s, const char *t), strspn(s, t), (count_range(s, result + 1), count_string(t)))
BEHIND(size_t, strcspn, (const char *s, const char *t), strcspn(s, t), (count_range(s, result + 1), count_string(t)))
BEFORE(double, strtod, (const char *s, char **end), (PLACE(s), PLACE(end)), strtod(s, end))
BEFORE(long, strtol, (const char *s, char **end, int base), (PLACE(s), PLACE(end)), strtol(s, end, base))
BEFORE(int, getc, (FILE * file), PLACE(file), getc(file))
BEFORE(int, fgetc, (FILE * file), PLACE(file), fgetc(file))
BEFORE(int, ungetc, (int c, FILE *file), PLACE(file), ungetc(c, file))
BEFORE(int, putc, (int c, FILE *file), PLACE(file), putc(c, file))
BEFORE(int, fputc, (int c, FILE *file), PLACE(file), fputc(c, file))
BEFORE(int, fflush, (FILE * file), PLACE(file), fflush(file))
BEFORE(int, fclose, (FILE * file), PLACE(file), fclose(file))
BEFORE(FILE *, fopen, (const char *path, const char *mode), (count_string(path), count_string(mode)), fopen(path, mode))
BEFORE(char *, getenv, (const char *name), count_string(name), getenv(name))
BEFORE(time_t, time, (time_t *to), PLACE(to), time(to))
BEFORE(time_t, mktime, (struct tm * of), PLACE(of), mktime(of))
BEFORE(struct tm *, gmtime_r, (const time_t *of, struct tm *to), (PLACE(of), PLACE(to)), gmtime_r(of, to))
BEFORE(struct tm *, localtime_r, (const time_t *of, struct tm *to), (PLACE(of), PLACE(to)), localtime_r(of, to))
BEFORE(double, frexp, (double x, int *exponent), PLACE(exponent), frexp(x, exponent))
BEHIND(size_t, strftime, (char *to, size_t size, const char *format, const struct tm *of),
       strftime(to, size, format, of),
       (count_range(to, result < size ? result + 1 : size), count_string(format), PLACE(of)))

char *oracle_fgets(char *to, int size, FILE *file) {
  char *result = fgets(to, size, file);
  if (result)
    count_string(result);
  PLACE(file);
  return result;
}

/* The strings among the arguments of the programs' formats are not on the heap. */
int oracle_snprintf(char *to, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to, size, format, arguments);
  va_end(arguments);
  if (length >= 0)
    count_range(to, (size_t)length < size ? (size_t)length + 1 : size);
  return length;
}

int oracle_fprintf(FILE *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  count((uintptr_t)file);
  int length = vfprintf(file, format, arguments);
  va_end(arguments);
  return length;
}

static ssize_t count_transfer(const void *memory, ssize_t size) {
  if (size > 0)
    count_range(memory, (size_t)size);
  return size;
}

ssize_t oracle_read(int file, void *to, size_t size) { return count_transfer(to, read(file, to, size)); }
ssize_t oracle_write(int file, const void *from, size_t size) { return count_transfer(from, write(file, from, size)); }

ssize_t oracle_pread(int file, void *to, size_t size, off_t offset) {
  return count_transfer(to, pread(file, to, size, offset));
}

ssize_t oracle_pwrite(int file, const void *from, size_t size, off_t offset) {
  return count_transfer(from, pwrite(file, from, size, offset));
}

size_t oracle_fread(void *to, size_t size, size_t n, FILE *file) {
  size_t done = fread(to, size, n, file);
  count((uintptr_t)file);
  count_range(to, done * size);
  return done;
}

size_t oracle_fwrite(const void *from, size_t size, size_t n, FILE *file) {
  size_t done = fwrite(from, size, n, file);
  count((uintptr_t)file);
  count_range(from, done * size);
  return done;
}

static int by_size(const void *left, const void *right) {
  const block *a = left, *b = right;
  return a->size < b->size ? -1 : a->size > b->size;
}

static FILE *create(const char *variable) {
  FILE *file = fopen(getenv(variable), "w");
  if (!file)
    abort();
  return file;
}

static void print_stacks(size_t n) {
  FILE *file = create("ORACLE_STACKS");
  for (size_t i = 0; i < n; i++) {
    blocks[i].stack->blocks++;
    blocks[i].stack->bytes += blocks[i].size;
    blocks[i].stack->accesses += blocks[i].accesses;
  }
  for (const stack *at = stacks; at < stacks + MOST_STACKS; at++) {
    if (at->blocks == 0)
      continue;
    fprintf(file, "%zu %zu %zu", at->blocks, at->bytes, at->accesses);
    for (size_t i = 0; i < at->depth; i++)
      fprintf(file, " %#zx", (size_t)at->calls[i]);
    fputc('\n', file);
  }
  fclose(file);
}

__attribute__((destructor)) static void print(void) {
  size_t n = n_blocks;
  if (stacks)
    print_stacks(n);
  FILE *file = create("ORACLE");
  qsort(blocks, n, sizeof *blocks, by_size);
  for (size_t i = 0, k; i < n; i = k) {
    size_t accesses = 0;
    for (k = i; k < n && blocks[k].size == blocks[i].size; k++)
      accesses += blocks[k].accesses;
    fprintf(file, "%zu %zu %zu\n", blocks[i].size, k - i, accesses);
  }
  fclose(file);
}
