/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* "start-end flags ..." begins a mapping; then come lines such as "Rss:  16 kB", of which two matter. */
#include "page_counts.h"

#define KIB_PER_PAGE 4u

static uintptr_t read_address(const char *line, uint32_t length) {
  uintptr_t address = 0;

  for (uint32_t i = 0; i < length && line[i] != '-'; ++i)
    address = address << 4 | (uintptr_t)(line[i] <= '9' ? line[i] - '0' : line[i] - 'a' + 10);
  return address;
}

/* The number behind the name, if the line has that name. */
static bool read_number(const char *line, uint32_t length, const char *name, uint32_t *ret) {
  uint32_t i = 0, number = 0;

  for (; name[i]; ++i)
    if (i >= length || line[i] != name[i])
      return false;
  for (; i < length; ++i)
    if (line[i] >= '0' && line[i] <= '9')
      number = number * 10 + (uint32_t)(line[i] - '0');
  *ret = number / KIB_PER_PAGE;
  return true;
}

static bool begins_mapping(const char *line, uint32_t length) {
  return length > 0 && ((line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f'));
}

static bool end_line(hearth_page_counts_reader *reader, uintptr_t begin, uintptr_t end,
                     hearth_page_counts_visit *visit) {
  hearth_page_counts *counts = &reader->counts;

  if (begins_mapping(reader->line, reader->length)) {
    *counts = (hearth_page_counts){.start = read_address(reader->line, reader->length)};
    return counts->start < end;
  }
  uint32_t shared = 0;
  read_number(reader->line, reader->length, "Shared_Dirty:", &shared);
  counts->shared = counts->shared || shared > 0;
  if (read_number(reader->line, reader->length, "Referenced:", &counts->accessed) && counts->start >= begin)
    visit(counts);
  return true;
}

bool hearth_page_counts_read(hearth_page_counts_reader *reader, const char *text, size_t size, uintptr_t begin,
                             uintptr_t end, hearth_page_counts_visit *visit) {
  for (size_t i = 0; i < size; ++i) {
    if (text[i] != '\n') {
      if (reader->length < sizeof reader->line)
        reader->line[reader->length++] = text[i];
      continue;
    }
    if (!end_line(reader, begin, end, visit))
      return false;
    reader->length = 0;
  }
  return true;
}
