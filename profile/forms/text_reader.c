/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the text form: tokens of one line at a time; a context is added when the next one begins. There is no look-
 * ahead. */
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "file.h"
#include "hearth/ids.h"

/* -------------------------------------------------- tokens -------------------------------------------------- */

typedef struct parser {
  hearth_builder *builder;
  const char *name;
  const char *at, *end; /* the unread text */
  unsigned line;
  char *tokens; /* of the line, without quotes and escapes: those that were kept, and the last one */
  char *token;
  bool quoted; /* the token was */
  builder_frame *frames;
  size_t frame_count, frame_room;
  hearth_mib mib;
  uint64_t *counts; /* of the context's histogram */
  size_t count_count, count_room;
  bool has_levels;
  uint64_t levels[HEARTH_RAW_POINTS]; /* of the context */
  hearth_variance variance;
  bool variance_seen;          /* of any context */
  hearth_profile_summary runs; /* sums of what observing a run needs */
  uint64_t fields_seen;        /* one bit a column */
  unsigned context_line;       /* 0: no context is open */
  bool run_seen;
  hearth_error *err;
} parser;

static hearth_status text_reader_fail(const parser *p, unsigned line, hearth_status status, const char *reason,
                                      const char *what) {
  return hearth_error_set(p->err, status, "%s:%u: %s%s%s%.100s", p->name, line, reason, *what ? " '" : "", what,
                          *what ? "'" : "");
}

static hearth_status bad(const parser *p, const char *reason, const char *what) {
  return text_reader_fail(p, p->line, HEARTH_E_FORMAT, reason, what);
}

static bool text_reader_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool at_line_end(parser *p) {
  while (p->at < p->end && text_reader_is_blank(*p->at))
    p->at++;
  return p->at == p->end || *p->at == '\n' || *p->at == '#';
}

/* To the beginning of the next line that says something; false at the end of the text. */
static bool text_reader_next_line(parser *p) {
  for (;;) {
    if (!at_line_end(p))
      return true;
    while (p->at < p->end && *p->at != '\n')
      p->at++;
    if (p->at == p->end)
      return false;
    p->at++;
    p->line++;
  }
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character that the escape at p->at, behind the backslash, stands for; 0 if it is no escape. */
static char read_escape(parser *p) {
  if (p->at == p->end)
    return '\0';
  char c = *p->at++;
  switch (c) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case '"':
  case '\\':
    return c;
  case 'x':
    if (p->end - p->at >= 2 && hex_digit(p->at[0]) >= 0 && hex_digit(p->at[1]) >= 0) {
      p->at += 2;
      return (char)(hex_digit(p->at[-2]) << 4 | hex_digit(p->at[-1]));
    }
    return '\0';
  default:
    return '\0';
  }
}

static hearth_status read_quoted(parser *p) {
  char *to = p->token;
  for (p->at++; p->at < p->end && *p->at != '\n' && *p->at != '\0'; p->at++) {
    char c = *p->at;
    if (c == '"') {
      *to = '\0';
      p->at++;
      return at_line_end(p) || text_reader_is_blank(p->at[-1]) ? HEARTH_OK
                                                               : bad(p, "a blank is missing behind", p->token);
    }
    if (c == '\\') {
      p->at++;
      if (!(c = read_escape(p)))
        return bad(p, "an escape is none of \\\" \\\\ \\n \\t \\xHH (not 00)", "");
      p->at--;
    }
    *to++ = c;
  }
  return bad(p, "a quote is not closed in its line", "");
}

/* The token is needed behind the next one, too, until the line ends. */
static const char *keep_token(parser *p) {
  const char *kept = p->token;
  p->token += strlen(kept) + 1;
  return kept;
}

/* The next word of the line into p->token; `what` is missing if there is none. */
static hearth_status read_token(parser *p, const char *what) {
  if (at_line_end(p))
    return bad(p, "missing", what);
  p->quoted = *p->at == '"';
  if (p->quoted)
    return read_quoted(p);
  char *to = p->token;
  for (; p->at < p->end && !text_reader_is_blank(*p->at) && *p->at != '\n' && *p->at != '\0'; p->at++)
    *to++ = *p->at;
  *to = '\0';
  return p->at < p->end && *p->at == '\0' ? bad(p, "a NUL character", "") : HEARTH_OK;
}

static hearth_status text_reader_end_line(parser *p) {
  if (at_line_end(p))
    return HEARTH_OK;
  HEARTH_TRY(read_token(p, ""));
  return bad(p, "unexpected", p->token);
}

static hearth_status text_reader_parse_number(const parser *p, const char *digits, uint64_t limit, uint64_t *ret) {
  uint64_t value = 0;
  const char *c = digits;
  for (; *c >= '0' && *c <= '9'; c++) {
    uint64_t digit = (uint64_t)(*c - '0');
    if (digit > limit || value > (limit - digit) / 10)
      return bad(p, "too great a number", digits);
    value = value * 10 + digit;
  }
  if (*c || c == digits)
    return bad(p, "not a number", digits);
  *ret = value;
  return HEARTH_OK;
}

static hearth_status read_u32(parser *p, const char *what, uint32_t *ret) {
  uint64_t value = 0;
  HEARTH_TRY(read_token(p, what));
  HEARTH_TRY(text_reader_parse_number(p, p->token, UINT32_MAX, &value));
  *ret = (uint32_t)value;
  return HEARTH_OK;
}

/* To the first "scheme" of the file, which stands before its contexts. Whether that line is right is found when the
 * text is read. */
enum hearth_id_scheme hearth_text_profile_scheme(const char *text, size_t size) {
  parser p = {.at = text, .end = text + size};
  while (text_reader_next_line(&p)) {
    size_t left = (size_t)(p.end - p.at);
    if (left > 7 && memcmp(p.at, "context", 7) == 0)
      break;
    if (left > 6 && memcmp(p.at, "scheme", 6) == 0 && text_reader_is_blank(p.at[6])) {
      p.at += 6;
      return !at_line_end(&p) && p.end - p.at >= 4 && memcmp(p.at, "llvm", 4) == 0 ? HEARTH_IDS_LLVM
                                                                                   : HEARTH_IDS_HEARTH;
    }
    while (p.at < p.end && *p.at != '\n')
      p.at++;
  }
  return HEARTH_IDS_HEARTH;
}

/* -------------------------------------------------- statements -------------------------------------------------- */

static hearth_status read_first_line(parser *p) {
  uint64_t version = 0;
  if (!text_reader_next_line(p))
    return bad(p, "missing", HEARTH_TEXT_FIRST_WORD);
  HEARTH_TRY(read_token(p, HEARTH_TEXT_FIRST_WORD));
  if (strcmp(p->token, HEARTH_TEXT_FIRST_WORD) != 0)
    return bad(p, "not a text profile: the first word is not '" HEARTH_TEXT_FIRST_WORD "' but", p->token);
  HEARTH_TRY(read_token(p, "version"));
  HEARTH_TRY(text_reader_parse_number(p, p->token, UINT32_MAX, &version));
  if (version != HEARTH_TEXT_VERSION)
    return text_reader_fail(p, p->line, HEARTH_E_VERSION,
                            "this release of Hearth reads version 1 of the text form, not", p->token);
  return text_reader_end_line(p);
}

static hearth_status read_scheme(parser *p) {
  HEARTH_TRY(read_token(p, "hearth or llvm"));
  bool llvm = strcmp(p->token, "llvm") == 0;
  if (!llvm && strcmp(p->token, "hearth") != 0)
    return bad(p, "the scheme of function ids is 'hearth' or 'llvm', not", p->token);
  if (p->builder->scheme != (llvm ? HEARTH_IDS_LLVM : HEARTH_IDS_HEARTH))
    return text_reader_fail(p, p->line, HEARTH_E_MISMATCH,
                            "profiles with other function ids cannot be merged with scheme", p->token);
  return text_reader_end_line(p);
}

typedef struct named_value {
  const char *name;
  uint64_t *value;
  uint64_t limit; /* 0: none */
  bool *given;    /* NULL: nobody asks */
} named_value;

/* NAME=NUMBER up to the end of the line, in any order; `what` says which names there are. */
static hearth_status read_values(parser *p, const named_value *keys, size_t count, const char *what) {
  while (!at_line_end(p)) {
    size_t i = 0;
    HEARTH_TRY(read_token(p, ""));
    char *value = strchr(p->token, '=');
    if (!value)
      return bad(p, "not NAME=VALUE:", p->token);
    *value++ = '\0';
    while (i < count && strcmp(p->token, keys[i].name) != 0)
      i++;
    if (i == count)
      return bad(p, what, p->token);
    HEARTH_TRY(text_reader_parse_number(p, value, keys[i].limit ? keys[i].limit : UINT64_MAX, keys[i].value));
    if (keys[i].given)
      *keys[i].given = true;
  }
  return HEARTH_OK;
}

static hearth_status text_reader_read_run(parser *p) {
  hearth_profile_summary run = {.runs = 1};
  uint64_t accesses = 1, densities = 0, estimated = 0;
  const named_value keys[] = {{"duration_ns", &run.duration_ns, 0},
                              {"runs", &run.runs, 0},
                              {"accesses", &accesses, 1},
                              {"densities", &densities, 1},
                              {"estimated", &estimated, 1},
                              {"dropped_blocks", &run.dropped_blocks, 0},
                              {"dropped_frames", &run.dropped_frames, 0}};
  HEARTH_TRY(read_values(
      p, keys, sizeof keys / sizeof keys[0],
      "a run has duration_ns, runs, accesses, densities, estimated, dropped_blocks, dropped_frames, but not"));
  run.accesses_counted = accesses && !densities;
  run.densities_only = densities;
  run.accesses_estimated = estimated;
  p->runs.accesses_counted = run.accesses_counted && (p->runs.accesses_counted || !p->run_seen);
  p->runs.accesses_estimated = p->runs.accesses_estimated || run.accesses_estimated;
  p->runs.runs = hearth_merge_SUM(p->runs.runs, run.runs);
  p->runs.duration_ns = hearth_merge_SUM(p->runs.duration_ns, run.duration_ns);
  p->run_seen = true;
  return hearth_builder_add_run(p->builder, &run, p->err);
}

static hearth_status text_reader_read_build_id(parser *p, uint8_t *build_id, uint32_t *ret_size) {
  HEARTH_TRY(read_token(p, "build id"));
  const char *hex = p->token;
  for (*ret_size = 0; *ret_size < HEARTH_BUILD_ID_MAX && hex[0] && hex_digit(hex[0]) >= 0; hex += 2) {
    if (hex_digit(hex[1]) < 0)
      break;
    build_id[(*ret_size)++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
  }
  return *hex ? bad(p, "a build id is up to 32 bytes in hexadecimal, not", p->token) : HEARTH_OK;
}

static hearth_status read_binary(parser *p) {
  uint8_t build_id[HEARTH_BUILD_ID_MAX];
  uint32_t size = 0;
  HEARTH_TRY(read_token(p, "name of the binary"));
  const char *name = keep_token(p);
  if (!at_line_end(p))
    HEARTH_TRY(text_reader_read_build_id(p, build_id, &size));
  HEARTH_TRY(text_reader_end_line(p));
  return hearth_builder_add_binary(p->builder, name, build_id, size, p->err);
}

static hearth_status read_facts(parser *p) {
  hearth_run_facts facts = {.command = ""};
  uint64_t differ = 0, first_day = 0, last_day = 0;
  const named_value keys[] = {{"peak", &facts.peak_bytes, 0},
                              {"commands_differ", &differ, 1},
                              {"first_day", &first_day, UINT32_MAX},
                              {"last_day", &last_day, UINT32_MAX}};
  HEARTH_TRY(read_values(p, keys, sizeof keys / sizeof keys[0],
                         "facts have peak, commands_differ, first_day, last_day, but not"));
  if ((first_day == 0) != (last_day == 0) || first_day > last_day)
    return bad(p, "the last day of the runs is before the first", "");
  facts.commands_differ = differ;
  facts.first_day = (uint32_t)first_day;
  facts.last_day = (uint32_t)last_day;
  return hearth_builder_add_run_facts(p->builder, &facts, p->err);
}

static hearth_status read_command(parser *p) {
  HEARTH_TRY(read_token(p, "command line"));
  const hearth_run_facts facts = {.command = p->token};
  HEARTH_TRY(hearth_builder_add_run_facts(p->builder, &facts, p->err));
  return text_reader_end_line(p);
}

static hearth_status read_type(parser *p) {
  uint64_t id;
  HEARTH_TRY(read_token(p, "name of the type"));
  if (!*p->token)
    return bad(p, "a type has a name", "");
  HEARTH_TRY(hearth_builder_type(p->builder, p->token, strlen(p->token), &id, p->err));
  return text_reader_end_line(p);
}

static hearth_status text_reader_read_global(parser *p) {
  hearth_global g = {0};
  uint64_t line = 0, kind = 0, local = 0;
  bool stores_counted = false;
  const named_value keys[] = {{"line", &line, UINT32_MAX},
                              {"kind", &kind, HEARTH_GLOBAL_KINDS - 1},
                              {"local", &local, 1},
                              {"size", &g.size, 0},
                              {"accesses", &g.accesses, 0},
                              {"touched_lines", &g.touched_lines, 0},
                              {"stores", &g.stores, 0, &stores_counted}};
  HEARTH_TRY(read_token(p, "name of the global"));
  if (!*p->token)
    return bad(p, "a global has a name", "");
  g.name = keep_token(p);
  HEARTH_TRY(read_token(p, "file of the global"));
  g.file = keep_token(p);
  HEARTH_TRY(read_values(p, keys, sizeof keys / sizeof keys[0],
                         "a global has line, kind, local, size, accesses, touched_lines, stores, but not"));
  g.line = (uint32_t)line;
  g.flags = (uint32_t)kind | (local ? HEARTH_GLOBAL_LOCAL : 0) | (stores_counted ? HEARTH_GLOBAL_STORES : 0);
  return hearth_builder_add_global(p->builder, &g, p->err);
}

enum { ID_DIGITS = 16 };

static bool is_hex(const char *digits) {
  size_t count = 0;
  while (count < ID_DIGITS && hex_digit(digits[count]) >= 0)
    count++;
  return count == ID_DIGITS;
}

/* "0x" and 16 digits, unquoted: a function of which only the id is known; behind that, a stripped name. */
static bool parse_id(const parser *p, uint64_t *ret, const char **ret_name) {
  if (p->quoted || strncmp(p->token, "0x", 2) != 0 || !is_hex(p->token + 2))
    return false;
  const char *name = p->token + 2 + ID_DIGITS;
  if (*name && !hearth_is_stripped_name(name))
    return false;
  *ret = 0;
  for (const char *c = p->token + 2; c < name; c++)
    *ret = *ret << 4 | (uint64_t)hex_digit(*c);
  *ret_name = name;
  return true;
}

static hearth_status text_reader_read_function(parser *p, uint32_t *ret) {
  uint64_t id = 0;
  uint32_t start_line;
  HEARTH_TRY(read_token(p, "function"));
  const char *given = p->token;
  bool id_only = parse_id(p, &id, &given);
  if (!id_only && !*p->token)
    return bad(p, "a function without a name is written as its id: 0x and 16 hexadecimal digits", "");
  bool by_id = id_only && !(*given && p->builder->scheme == HEARTH_IDS_LLVM); /* its ids are those of names */
  keep_token(p);
  HEARTH_TRY(read_token(p, "file"));
  const char *path = keep_token(p);
  HEARTH_TRY(read_u32(p, "first line of the function", &start_line));
  return by_id ? hearth_builder_function_by_id(p->builder, id, given, path, start_line, ret, p->err)
               : hearth_builder_function(p->builder, given, path, start_line, ret, p->err);
}

static hearth_status text_reader_read_frame(parser *p) {
  builder_frame frame = {.line = HEARTH_LINE_UNKNOWN};
  HEARTH_TRY(text_reader_read_function(p, &frame.function));
  if (!at_line_end(p) && *p->at == '?')
    HEARTH_TRY(read_token(p, ""));
  else
    HEARTH_TRY(read_u32(p, "line offset", &frame.line));
  HEARTH_TRY(read_u32(p, "column", &frame.column));
  HEARTH_TRY(read_u32(p, "discriminator", &frame.discriminator));
  while (!at_line_end(p)) {
    HEARTH_TRY(read_token(p, ""));
    if (strcmp(p->token, "inlined") == 0)
      frame.flags |= HEARTH_FRAME_INLINED;
    else if (strcmp(p->token, "recursive") == 0)
      frame.recursive = true;
    else if (strcmp(p->token, "library") == 0)
      frame.flags |= HEARTH_FRAME_LIBRARY;
    else if (strcmp(p->token, "cycle") == 0)
      p->builder->functions[frame.function].in_cycle = true;
    else
      return bad(p, "a frame may end with 'inlined', 'recursive', 'cycle' and 'library', not", p->token);
  }
  HEARTH_TRY(text_reader_end_line(p));
  HEARTH_TRY(hearth_rows_reserve(&p->frames, &p->frame_room, p->frame_count, 1, sizeof frame, p->err));
  p->frames[p->frame_count++] = frame;
  return HEARTH_OK;
}

/* Outside a context: a frame that folding left out of every stack. */
static hearth_status read_folded(parser *p) {
  uint32_t row;
  p->frame_count = 0;
  HEARTH_TRY(text_reader_read_frame(p));
  if (!p->frames[0].recursive)
    return text_reader_fail(p, p->line, HEARTH_E_FORMAT, "a frame outside a context must be 'recursive'", "");
  return hearth_builder_intern_frame(p->builder, &p->frames[0], &row, p->err);
}

static hearth_status text_reader_read_field(parser *p) {
  int column = hearth_mib_column_find(p->token, strlen(p->token));
  if (column < 0)
    return bad(p, "no statement or field of a context is called", p->token);
  if (p->fields_seen & UINT64_C(1) << column)
    return bad(p, "given twice in one context:", p->token);
  p->fields_seen |= UINT64_C(1) << column;
  HEARTH_TRY(read_token(p, "number"));
  HEARTH_TRY(text_reader_parse_number(p, p->token, UINT64_MAX, &p->mib.v[column]));
  return text_reader_end_line(p);
}

static hearth_status text_reader_read_histogram(parser *p) {
  if (p->count_count > 0)
    return bad(p, "given twice in one context:", p->token);
  while (!at_line_end(p)) {
    HEARTH_TRY(read_token(p, "number"));
    HEARTH_TRY(hearth_rows_reserve(&p->counts, &p->count_room, p->count_count, 1, sizeof *p->counts, p->err));
    HEARTH_TRY(text_reader_parse_number(p, p->token, UINT64_MAX, &p->counts[p->count_count++]));
  }
  return p->count_count > 0 ? HEARTH_OK : bad(p, "missing", "numbers of the histogram");
}

/* Behind the fields of a context, or behind the line of the history. */
static hearth_status read_levels(parser *p, uint64_t levels[HEARTH_RAW_POINTS]) {
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++) {
    HEARTH_TRY(read_token(p, "number"));
    HEARTH_TRY(text_reader_parse_number(p, p->token, UINT64_MAX, &levels[i]));
  }
  return text_reader_end_line(p);
}

static hearth_status read_levels_of_context(parser *p) {
  if (p->has_levels)
    return bad(p, "given twice in one context:", p->token);
  p->has_levels = true;
  return read_levels(p, p->levels);
}

static hearth_status read_levels_of_all(parser *p) {
  hearth_heap_history history = {0};
  HEARTH_TRY(read_levels(p, history.levels));
  return hearth_builder_add_history(p->builder, &history, p->err);
}

static hearth_status text_reader_read_history(parser *p) {
  hearth_heap_history history = {0};
  const named_value keys[] = {{"runs", &history.runs, 0}, {"peak", &history.peak_ppm, 0}};
  HEARTH_TRY(read_values(p, keys, sizeof keys / sizeof keys[0], "a history has runs, peak, but not"));
  return hearth_builder_add_history(p->builder, &history, p->err);
}

static hearth_status read_variance(parser *p) {
  static const char *const names[HEARTH_VARIANCE_SUMS] = {HEARTH_VARIANCE_NAMES};
  named_value keys[HEARTH_VARIANCE_SUMS];
  if (p->variance.runs > 0)
    return bad(p, "given twice in one context:", p->token);
  for (size_t i = 0; i < HEARTH_VARIANCE_SUMS; i++)
    keys[i] = (named_value){names[i], &p->variance.sums[i], 0};
  p->variance_seen = true;
  HEARTH_TRY(read_values(p, keys, HEARTH_VARIANCE_SUMS,
                         "a variance has runs, squares, density, lifetime, bytes, and squares of these, but not"));
  return p->variance.runs > 0 ? HEARTH_OK : bad(p, "missing", "runs of the variance");
}

static hearth_status finish_context(parser *p) {
  uint32_t node = HEARTH_NONE;
  if (p->context_line == 0)
    return HEARTH_OK;
  if (p->frame_count == 0)
    return text_reader_fail(p, p->context_line, HEARTH_E_FORMAT, "the context has no frame", "");
  if (p->mib.AllocCount == 0)
    return text_reader_fail(p, p->context_line, HEARTH_E_FORMAT, "the context has no AllocCount, or 0", "");
  for (size_t i = p->frame_count; i-- > 0;) { /* as in hearth_builder_add, but the discriminators are base ones */
    uint32_t frame;
    HEARTH_TRY(hearth_builder_intern_frame(p->builder, &p->frames[i], &frame, p->err));
    HEARTH_TRY(hearth_builder_intern_node(p->builder, node, frame, &node, p->err));
  }
  HEARTH_TRY(hearth_builder_add_to_node(p->builder, node, &p->mib, p->err));
  hearth_histogram histogram = {p->counts, p->count_count};
  HEARTH_TRY(hearth_builder_add_histogram(p->builder, node, &histogram, p->err));
  HEARTH_TRY(hearth_builder_add_variance(p->builder, node, &p->variance, p->err));
  if (p->has_levels)
    HEARTH_TRY(hearth_builder_add_levels(p->builder, node, p->levels, p->err));
  p->context_line = 0;
  return HEARTH_OK;
}

static hearth_status begin_context(parser *p) {
  HEARTH_TRY(finish_context(p));
  p->context_line = p->line;
  p->frame_count = 0;
  p->count_count = 0;
  p->has_levels = false;
  p->variance = (hearth_variance){{0}};
  p->fields_seen = 0;
  memset(&p->mib, 0, sizeof p->mib);
  return text_reader_end_line(p);
}

typedef struct statement {
  const char *word;
  hearth_status (*read)(parser *p);
} statement;

static hearth_status read_statement(parser *p) {
  static const statement of_context[] = {
      {"context", begin_context},  {"frame", text_reader_read_frame},  {"histogram", text_reader_read_histogram},
      {"variance", read_variance}, {"levels", read_levels_of_context}, {0}};
  static const statement of_profile[] = {
      {"context", begin_context},     {"scheme", read_scheme},   {"run", text_reader_read_run},
      {"binary", read_binary},        {"type", read_type},       {"global", text_reader_read_global},
      {"facts", read_facts},          {"command", read_command}, {"history", text_reader_read_history},
      {"levels", read_levels_of_all}, {"frame", read_folded},    {0}};
  p->token = p->tokens;
  HEARTH_TRY(read_token(p, ""));
  for (const statement *s = p->context_line ? of_context : of_profile; s->word; s++)
    if (strcmp(s->word, p->token) == 0)
      return s->read(p);
  if (p->context_line)
    return text_reader_read_field(p);
  return bad(p,
             "outside a context stands only scheme, run, binary, facts, command, history, levels, "
             "type, global, frame or context, not",
             p->token);
}

/* A text without variances is of a single run, or of runs that were not observed. */
static hearth_status end_runs(parser *p) {
  if (p->variance_seen)
    p->runs.runs = 0;
  return hearth_builder_end_run(p->builder, &p->runs, p->err);
}

static hearth_status text_reader_read_all(parser *p) {
  HEARTH_TRY(read_first_line(p));
  hearth_builder_begin_run(p->builder);
  while (text_reader_next_line(p))
    HEARTH_TRY(read_statement(p));
  HEARTH_TRY(finish_context(p));
  HEARTH_TRY(end_runs(p));
  return p->run_seen ? HEARTH_OK : bad(p, "there is no 'run' line, such as: run duration_ns=2000000000", "");
}

hearth_status hearth_builder_read_text(hearth_builder *builder, const char *text, size_t size, const char *name,
                                       hearth_error *err) {
  parser p = {.builder = builder, .name = name, .at = text, .end = text + size, .line = 1, .err = err};
  p.token = p.tokens = malloc(size + 1);
  HEARTH_TRY(hearth_check_memory(p.tokens, err));
  hearth_status status = text_reader_read_all(&p);
  HEARTH_FREE(p.tokens, p.frames, p.counts);
  return status;
}
