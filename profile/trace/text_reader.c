/* The reader of the text form: a line is a word that says what it is, and values in a fixed order. */
#include <stdlib.h>
#include <string.h>

#include "hearth/raw.h"
#include "hearth/trace.h"
#include "trace/writer.h"

typedef struct parser {
  const char *name, *at, *end;
  unsigned line;
  hearth_error *err;
  hearth_trace_info info;
  hearth_trace_writer *writer; /* from the end of the header on */
  uint32_t nodes;
  hearth_trace_event *events; /* of the block that is being read */
  uint32_t count, thread;
  char *word; /* room for the longest line */
} parser;

static hearth_status bad(const parser *p, const char *reason) {
  return hearth_error_set(p->err, HEARTH_E_FORMAT, "%s:%u: %s", p->name, p->line, reason);
}

static bool at_line_end(parser *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\r'))
    ++p->at;
  return p->at == p->end || *p->at == '\n';
}

/* The next word of the line, without quotes and escapes. */
static bool take_bytes(parser *p, size_t *ret_size) {
  size_t size = 0;
  if (at_line_end(p))
    return false;
  bool quoted = *p->at == '"';
  for (p->at += quoted; p->at < p->end && *p->at != '\n' && (quoted ? *p->at != '"' : *p->at != ' ' && *p->at != '\r');
       ++p->at) {
    char hex[3] = {0};
    if (!quoted || *p->at != '\\') {
      p->word[size++] = *p->at;
      continue;
    }
    if (p->end - p->at < 4 || p->at[1] != 'x')
      return false;
    memcpy(hex, p->at + 2, 2);
    char *stop;
    p->word[size++] = (char)strtoul(hex, &stop, 16);
    if (*stop)
      return false;
    p->at += 3;
  }
  if (quoted && (p->at == p->end || *p->at++ != '"'))
    return false;
  p->word[size] = '\0';
  *ret_size = size;
  return true;
}

static bool take_word(parser *p, const char *word) {
  size_t size;
  return take_bytes(p, &size) && strcmp(p->word, word) == 0;
}

static bool take_number(parser *p, uint64_t most, uint64_t *ret) {
  size_t size;
  char *stop;
  if (!take_bytes(p, &size) || p->word[0] < '0' || p->word[0] > '9')
    return false;
  *ret = strtoull(p->word, &stop, p->word[1] == 'x' ? 16 : 10);
  return !*stop && *ret <= most;
}

/* A node that was there before, or '-'. */
static bool take_reference(parser *p, uint32_t *ret) {
  uint64_t number;
  *ret = HEARTH_TRACE_NO_STACK;
  if (!at_line_end(p) && *p->at == '-')
    return take_word(p, "-");
  if (!take_number(p, UINT32_MAX, &number) || number >= p->nodes)
    return false;
  *ret = (uint32_t)number;
  return true;
}

/* -------------------------------------------------- lines -------------------------------------------------- */

static bool read_start(parser *p) {
  return take_number(p, UINT64_MAX, &p->info.start_ns) && take_word(p, "utc") &&
         take_number(p, UINT64_MAX, &p->info.start_unix_ns);
}

static bool read_depth(parser *p) {
  uint64_t depth;
  bool good = take_number(p, UINT32_MAX, &depth);
  p->info.stack_depth = good ? (uint32_t)depth : 0;
  return good;
}

/* The last line of the header. */
static bool read_command(parser *p) {
  size_t size;
  if (p->writer || !take_bytes(p, &size) || size > UINT32_MAX / 2)
    return false;
  p->info.command = p->word;
  p->info.command_size = size;
  p->writer = hearth_trace_writer_create(&p->info);
  return p->writer != NULL;
}

static bool take_build_id(parser *p, uint8_t *ret, uint32_t *ret_size) {
  size_t size;
  *ret_size = 0;
  if (!take_bytes(p, &size))
    return false;
  if (strcmp(p->word, "-") == 0)
    return true;
  for (size_t i = 0; i < size / 2 && i < HEARTH_RAW_BUILD_ID_MAX; ++i) {
    char hex[3] = {p->word[2 * i], p->word[2 * i + 1]}, *stop;
    ret[i] = (uint8_t)strtoul(hex, &stop, 16);
    if (*stop)
      return false;
    ++*ret_size;
  }
  return *ret_size * 2u == size;
}

static bool read_mapping(parser *p) {
  hearth_trace_mapping mapping;
  uint8_t id[HEARTH_RAW_BUILD_ID_MAX];
  size_t size;
  if (!p->writer || !take_number(p, UINT64_MAX, &mapping.start) || !take_number(p, UINT64_MAX, &mapping.end) ||
      mapping.start >= mapping.end || !take_number(p, UINT64_MAX, &mapping.file_offset) ||
      !take_build_id(p, id, &mapping.build_id_size) || !take_bytes(p, &size) || strlen(p->word) != size)
    return false;
  mapping.build_id = id;
  mapping.path = p->word;
  hearth_trace_writer_add_mapping(p->writer, &mapping);
  return true;
}

static bool read_node(parser *p) {
  hearth_trace_node node;
  uint64_t number;
  if (!p->writer || !take_number(p, HEARTH_TRACE_NODES_TOTAL - 1, &number) || number != p->nodes ||
      !take_number(p, UINT64_MAX, &node.pc) || !take_reference(p, &node.parent))
    return false;
  hearth_trace_writer_add_node(p->writer, &node);
  ++p->nodes;
  return true;
}

static void flush(parser *p) {
  if (p->count > 0)
    hearth_trace_writer_add_block(p->writer, p->events, p->count, p->thread);
  p->count = 0;
}

static bool read_block(parser *p) {
  flush(p);
  return p->writer != NULL;
}

static bool read_end(parser *p) {
  hearth_trace_end end;
  if (!p->writer || !take_number(p, UINT64_MAX, &end.duration_ns) || !take_word(p, "dropped") ||
      !take_number(p, UINT64_MAX, &end.dropped_events) || !take_number(p, UINT64_MAX, &end.dropped_stacks))
    return false;
  flush(p);
  hearth_trace_writer_add_end(p->writer, &end);
  return true;
}

/* What follows the kind. The number of frames is said by the stack. */
static bool read_event(parser *p, uint8_t kind) {
  hearth_trace_event event = {.kind = kind};
  uint64_t thread, frames;
  if (!p->writer || !take_number(p, UINT64_MAX, &event.address) || !take_number(p, UINT64_MAX - 1, &event.size) ||
      !take_word(p, "thread") || !take_number(p, UINT32_MAX, &thread) || thread == 0 || !take_word(p, "at") ||
      !take_number(p, UINT64_MAX, &event.begin_ns) || !take_number(p, UINT64_MAX, &event.stack_ns) ||
      !take_number(p, UINT64_MAX, &event.end_ns) || !take_word(p, "stack") || !take_reference(p, &event.stack) ||
      !take_word(p, "frames") || !take_number(p, UINT32_MAX, &frames))
    return false;
  if (p->count == HEARTH_TRACE_EVENTS_MOST || thread != p->thread)
    flush(p);
  p->thread = (uint32_t)thread;
  p->events[p->count++] = event;
  return true;
}

static bool read_line(parser *p) {
  static const struct {
    const char *word;
    bool (*read)(parser *p);
  } lines[] = {{"start", read_start}, {"depth", read_depth}, {"command", read_command}, {"mapping", read_mapping},
               {"node", read_node},   {"block", read_block}, {"end", read_end}};
  size_t size;
  if (!take_bytes(p, &size))
    return false;
  if (strcmp(p->word, "pid") == 0)
    return take_number(p, UINT64_MAX, &p->info.pid);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
    if (strcmp(p->word, lines[i].word) == 0)
      return lines[i].read(p);
  for (uint8_t kind = 0; kind < HEARTH_TRACE_KINDS; ++kind)
    if (strcmp(p->word, hearth_trace_kind_name(kind)) == 0)
      return read_event(p, kind);
  return false;
}

static hearth_status read_lines(parser *p) {
  if (!take_word(p, "hearth-trace-text") || !take_word(p, "1") || !at_line_end(p))
    return bad(p, "not the text of a trace: it does not begin with 'hearth-trace-text 1'");
  for (; p->at < p->end; ++p->at, ++p->line) {
    if (!at_line_end(p) && (p->line == 1 || !read_line(p) || !at_line_end(p)))
      return bad(p, "this is no line of a trace (docs/formats/trace.md, \"Text\")");
    if (p->at == p->end)
      break;
  }
  if (!p->writer)
    return bad(p, "the text ends before the line 'command'");
  flush(p);
  return HEARTH_OK;
}

hearth_status hearth_trace_read_text(const char *text, size_t size, const char *name, uint8_t **ret, size_t *ret_size,
                                     hearth_error *err) {
  parser p = {.name = name, .at = text, .end = text + size, .line = 1, .err = err};
  *ret = NULL;
  *ret_size = 0;
  p.word = malloc(size + 1);
  p.events = malloc(HEARTH_TRACE_EVENTS_MOST * sizeof *p.events);
  hearth_status status =
      p.word && p.events ? read_lines(&p) : hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", name);
  if (p.writer) {
    uint8_t *data;
    hearth_status finished = hearth_trace_writer_finish(p.writer, &data, ret_size, status == HEARTH_OK ? err : NULL);
    status = status == HEARTH_OK ? finished : status;
    if (status == HEARTH_OK)
      *ret = data;
    else
      free(data);
  }
  free(p.word);
  free(p.events);
  return status;
}
