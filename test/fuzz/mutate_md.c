/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mutator for fuzz_md.c. It changes metadata nodes and what is attached to calls, and leaves functions alone, so that
 * most of what it makes still parses. It works on lines of text, in the shape that LLVM prints: `!7 = !{!8, i64 1}`. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define ITEMS_MAX 512

typedef struct span {
  size_t at, size;
} span;

typedef struct spans {
  span items[ITEMS_MAX];
  size_t count;
} spans;

typedef struct text {
  char *data;
  size_t size, capacity;
  uint64_t random;
} text;

static size_t below(text *t, size_t limit) {
  t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return limit ? (size_t)(t->random >> 33) % limit : 0;
}

static bool splice(text *t, span old, const char *with, size_t n) {
  if (t->size - old.size + n > t->capacity)
    return false;
  memmove(t->data + old.at + n, t->data + old.at + old.size, t->size - old.at - old.size);
  memcpy(t->data + old.at, with, n);
  t->size = t->size - old.size + n;
  return true;
}

static void insert(text *t, size_t at, const char *with) { splice(t, (span){at, 0}, with, strlen(with)); }

/* -------------------------------------------------- finding -------------------------------------------------- */

static bool begins(const text *t, span s, const char *with) {
  size_t n = strlen(with);
  return s.size >= n && memcmp(t->data + s.at, with, n) == 0;
}

/* Offset of `what` in the span, or its end. */
static size_t find(const text *t, span s, const char *what) {
  for (size_t i = 0; i < s.size; i++)
    if (begins(t, (span){s.at + i, s.size - i}, what))
      return s.at + i;
  return s.at + s.size;
}

static bool contains(const text *t, span s, const char *what) { return find(t, s, what) < s.at + s.size; }

static bool is_node(const text *t, span line) {
  return begins(t, line, "!") && contains(t, line, "!{") && t->data[line.at + line.size - 1] == '}';
}

static bool is_call(const text *t, span line) {
  return contains(t, line, "(") && (contains(t, line, "call ") || contains(t, line, "invoke "));
}

static void find_lines(const text *t, bool (*wanted)(const text *, span), spans *ret) {
  ret->count = 0;
  for (size_t at = 0; at < t->size && ret->count < ITEMS_MAX;) {
    const char *end = memchr(t->data + at, '\n', t->size - at);
    span line = {at, end ? (size_t)(end - t->data) - at : t->size - at};
    if (line.size && wanted(t, line))
      ret->items[ret->count++] = line;
    at += line.size + 1;
  }
}

static bool pick_line(text *t, bool (*wanted)(const text *, span), span *ret) {
  spans lines;
  find_lines(t, wanted, &lines);
  if (lines.count)
    *ret = lines.items[below(t, lines.count)];
  return lines.count > 0;
}

/* Operands of a node, without the commas between them. Nested nodes are one operand. */
static void find_operands(const text *t, span line, spans *ret) {
  size_t begin = find(t, line, "!{") + 2, end = line.at + line.size - 1;
  int depth = 0;
  bool quoted = false;
  ret->count = 0;
  for (size_t i = begin; i <= end && begin < end && ret->count < ITEMS_MAX; i++) {
    char c = t->data[i];
    quoted ^= c == '"';
    if (i == end || (c == ',' && !quoted && depth == 0)) {
      while (begin < i && t->data[begin] == ' ')
        begin++;
      ret->items[ret->count++] = (span){begin, i - begin};
      begin = i + 1;
    }
    depth += quoted ? 0 : (c == '{') - (c == '}');
  }
}

/* -------------------------------------------------- operands -------------------------------------------------- */

static const char *const strings[] = {"cold",       "notcold",  "hot",     "ambiguous", "tepid",   "Stack",
                                      "AllocCount", "Hotness",  "AveSize", "TotalSize", "MinSize", "MinLifetime",
                                      "DataTypeId", "AllocCPU", "Colour",  ""};
static const unsigned widths[] = {1, 8, 16, 32, 64, 64, 64, 65, 128};
static const uint64_t values[] = {0, 1, 2, 3, 4, 345, 567, UINT32_MAX, INT64_MAX, UINT64_MAX};

#define PICK(t, array) ((array)[below(t, sizeof(array) / sizeof(array)[0])])

static unsigned number_of(const text *t, span line) {
  unsigned n = 0;
  for (size_t i = 1; i < line.size && t->data[line.at + i] >= '0' && t->data[line.at + i] <= '9'; i++)
    n = n * 10 + (unsigned)(t->data[line.at + i] - '0');
  return n;
}

static bool is_numbered_node(const text *t, span line) {
  return is_node(t, line) && t->data[line.at + 1] >= '0' && t->data[line.at + 1] <= '9';
}

static void write_reference(text *t, char buffer[64]) {
  span line;
  snprintf(buffer, 64, "!%u", pick_line(t, is_numbered_node, &line) ? number_of(t, line) : 0);
}

static void write_operand(text *t, char buffer[64]) {
  spans operands = {.count = 0};
  span line, operand;
  switch (below(t, 8)) {
  case 0:
    strcpy(buffer, "null");
    return;
  case 1:
    snprintf(buffer, 64, "!\"%s\"", PICK(t, strings));
    return;
  case 2:
    snprintf(buffer, 64, "i%u %llu", PICK(t, widths), (unsigned long long)PICK(t, values));
    return;
  case 3:
  case 4:
    write_reference(t, buffer);
    return;
  default: /* one that occurs */
    if (pick_line(t, is_numbered_node, &line))
      find_operands(t, line, &operands);
    operand = operands.count ? operands.items[below(t, operands.count)] : (span){0};
    if (operand.size && operand.size < 64)
      snprintf(buffer, 64, "%.*s", (int)operand.size, t->data + operand.at);
    else
      strcpy(buffer, "!{}");
  }
}

static void delete_operand(text *t, const spans *operands, size_t i) {
  size_t begin = operands->items[i].at, end = begin + operands->items[i].size;
  if (i + 1 < operands->count)
    end = operands->items[i + 1].at;
  else if (i > 0)
    begin = operands->items[i - 1].at + operands->items[i - 1].size;
  splice(t, (span){begin, end - begin}, "", 0);
}

static void insert_operand(text *t, span before, const char *operand) {
  insert(t, before.at, ", ");
  insert(t, before.at, operand);
}

static void change_integer(text *t, span operand) {
  char buffer[64];
  const char *blank = memchr(t->data + operand.at, ' ', operand.size);
  if (t->data[operand.at] != 'i' || !blank)
    return;
  if (below(t, 2))
    snprintf(buffer, sizeof buffer, "i%u%.*s", PICK(t, widths), (int)(t->data + operand.at + operand.size - blank),
             blank);
  else
    snprintf(buffer, sizeof buffer, "%.*s %llu", (int)(blank - (t->data + operand.at)), t->data + operand.at,
             (unsigned long long)PICK(t, values));
  splice(t, operand, buffer, strlen(buffer));
}

/* -------------------------------------------------- nodes -------------------------------------------------- */

/* `from` takes the place of `over`, and the reverse if both are short. */
static void swap_operands(text *t, span over, span from) {
  char a[64], b[64];
  if (over.size >= sizeof a || from.size >= sizeof b || over.at == from.at)
    return;
  snprintf(a, sizeof a, "%.*s", (int)over.size, t->data + over.at);
  snprintf(b, sizeof b, "%.*s", (int)from.size, t->data + from.at);
  bool over_first = over.at < from.at; /* the later one first, so that the other's place stays */
  splice(t, over_first ? from : over, over_first ? a : b, strlen(over_first ? a : b));
  splice(t, over_first ? over : from, over_first ? b : a, strlen(over_first ? b : a));
}

static void mutate_operand(text *t) {
  span line;
  spans operands;
  char buffer[64];
  if (!pick_line(t, is_node, &line))
    return;
  find_operands(t, line, &operands);
  write_operand(t, buffer);
  if (!operands.count) {
    insert(t, find(t, line, "!{") + 2, buffer);
    return;
  }
  size_t i = below(t, operands.count);
  span operand = operands.items[i];
  switch (below(t, 8)) {
  case 0:
    delete_operand(t, &operands, i);
    return;
  case 1:
    snprintf(buffer, sizeof buffer, "%.*s", (int)(operand.size < 63 ? operand.size : 63), t->data + operand.at);
    insert_operand(t, operand, buffer);
    return;
  case 2:
    insert_operand(t, operand, buffer);
    return;
  case 3:
    swap_operands(t, operand, operands.items[below(t, operands.count)]);
    return;
  case 4:
    splice(t, operand, "null", 4);
    return;
  case 5:
    change_integer(t, operand);
    return;
  default:
    splice(t, operand, buffer, strlen(buffer));
  }
}

static void toggle_distinct(text *t) {
  span line;
  if (!pick_line(t, is_numbered_node, &line))
    return;
  size_t equals = find(t, line, "= ") + 2;
  if (contains(t, line, "distinct "))
    splice(t, (span){equals, strlen("distinct ")}, "", 0);
  else
    insert(t, equals, "distinct ");
}

/* A second node like one that is there; the next mutation may refer to it. One operand may lead back to itself. */
static void copy_node(text *t) {
  char buffer[512];
  spans nodes, operands;
  unsigned number = 0;
  find_lines(t, is_numbered_node, &nodes);
  for (size_t i = 0; i < nodes.count; i++)
    number = number_of(t, nodes.items[i]) >= number ? number_of(t, nodes.items[i]) + 1 : number;
  if (!nodes.count)
    return;
  span line = nodes.items[below(t, nodes.count)];
  size_t from = find(t, line, " = ");
  int n = snprintf(buffer, sizeof buffer, "!%u%.*s\n", number, (int)(line.at + line.size - from), t->data + from);
  if (n <= 0 || (size_t)n >= sizeof buffer || !splice(t, (span){line.at, 0}, buffer, (size_t)n))
    return;
  find_operands(t, (span){line.at, (size_t)n - 1}, &operands);
  if (operands.count && below(t, 2)) {
    n = snprintf(buffer, sizeof buffer, "!%u", number);
    splice(t, operands.items[below(t, operands.count)], buffer, (size_t)n);
  }
}

/* -------------------------------------------------- calls -------------------------------------------------- */

static const char *const kinds[] = {"!memprof ", "!memprof.mib ", "!callsite "};

/* ", !kind !7" in the line, or an empty span at its end. */
static span find_attachment(const text *t, span line, const char *kind) {
  char pattern[32];
  snprintf(pattern, sizeof pattern, ", %s", kind);
  size_t at = find(t, line, pattern), end = at;
  if (at < line.at + line.size)
    for (end = at + strlen(pattern); end < line.at + line.size && t->data[end] != ','; end++)
      ;
  return (span){at, end - at};
}

static void mutate_attachment(text *t) {
  char node[64], attachment[96] = "";
  const char *kind = PICK(t, kinds);
  span line;
  if (!pick_line(t, is_call, &line))
    return;
  write_reference(t, node);
  if (below(t, 3))
    snprintf(attachment, sizeof attachment, ", %s%s", kind, node);
  splice(t, find_attachment(t, line, kind), attachment, strlen(attachment));
}

static void mutate_hint(text *t) {
  static const char key[] = " \"memprof\"=\"";
  char attribute[64] = "";
  span line;
  if (!pick_line(t, is_call, &line))
    return;
  if (below(t, 4))
    snprintf(attribute, sizeof attribute, "%s%s\"", key, strings[below(t, 5)]);
  size_t at = find(t, line, key), end = line.at + line.size;
  if (at < end) {
    const char *quote = memchr(t->data + at + strlen(key), '"', end - at - strlen(key));
    splice(t, (span){at, quote ? (size_t)(quote + 1 - t->data) - at : end - at}, attribute, strlen(attribute));
    return;
  }
  for (at = end; at > line.at && t->data[at - 1] != ')'; at--)
    ;
  insert(t, at, attribute);
}

/* -------------------------------------------------- entry -------------------------------------------------- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  text t = {(char *)data, size, max_size, seed};
  for (size_t n = 1 + below(&t, 4); n > 0; n--)
    switch (below(&t, 8)) {
    case 0:
    case 1:
      mutate_attachment(&t);
      break;
    case 2:
      mutate_hint(&t);
      break;
    case 3:
      toggle_distinct(&t);
      break;
    case 4:
      copy_node(&t);
      break;
    default:
      mutate_operand(&t);
    }
  return t.size;
}
