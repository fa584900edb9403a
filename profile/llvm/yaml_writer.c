/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* YAML as llvm-profdata of LLVM 22 prints it: keys are padded to 16 characters, GUIDs are not. */
#include <string.h>

#include "file.h"
#include "mib_entries.h"
#include "records.h"

static void print_stack(const hearth_llvm_records *r, uint32_t node, FILE *stream) {
  for (; node != HEARTH_NONE; node = r->nodes[node].parent) {
    const hearth_llvm_frame *frame = &r->frames[r->nodes[node].frame];
    fprintf(stream, "          - { Function: 0x%llx, LineOffset: %u, Column: %u, IsInlineFrame: %s }\n",
            (unsigned long long)frame->function, frame->line_offset, frame->column, frame->inlined ? "true" : "false");
  }
}

static void print_mib(const hearth_llvm_records *r, const hearth_mib *mib, FILE *stream) {
  uint64_t cut = 0;
  fputs("        MemInfoBlock:\n", stream);
  for (uint32_t i = 0; i < r->tag_count; i++) {
    const char *name = hearth_llvm_entries[r->tags[i]].name;
    int padding = strlen(name) < 15 ? 15 - (int)strlen(name) : 0;
    fprintf(stream, "          %s:%*s %llu\n", name, padding, "",
            (unsigned long long)hearth_llvm_entry_value(r->tags[i], mib, &cut));
  }
}

static void print_record(const hearth_llvm_records *r, const hearth_llvm_record *record, FILE *stream) {
  fprintf(stream, "  - GUID:            0x%llx\n", (unsigned long long)record->guid);
  if (record->calls > record->first)
    fputs("    AllocSites:\n", stream);
  for (size_t i = record->first; i < record->calls; i++) {
    fputs("      - Callstack:\n", stream);
    print_stack(r, r->sites[i].node, stream);
    print_mib(r, &r->contexts[r->sites[i].context], stream);
  }
  if (record->end > record->calls)
    fputs("    CallSites:\n", stream);
  for (size_t i = record->calls; i < record->end; i++) {
    fputs("      - Frames:\n", stream);
    print_stack(r, r->sites[i].node, stream);
  }
}

static void print_summary(const hearth_llvm_records *r, FILE *stream) {
  hearth_llvm_summary sum = hearth_llvm_summarise(r);
  const struct {
    const char *name;
    uint64_t value;
  } lines[] = {{"Total contexts", sum.contexts},
               {"Total cold contexts", sum.cold},
               {"Total hot contexts", sum.hot},
               {"Maximum cold context total size", sum.largest_cold},
               {"Maximum warm context total size", sum.largest_warm},
               {"Maximum hot context total size", sum.largest_hot}};
  fputs("---\n# MemProfSummary:\n", stream);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    fprintf(stream, "#   %s: %llu\n", lines[i].name, (unsigned long long)lines[i].value);
}

hearth_status hearth_llvm_print_yaml(hearth_profile *profile, FILE *stream, hearth_llvm_losses *ret_losses,
                                     hearth_error *err) {
  hearth_llvm_records records;
  hearth_status status = hearth_llvm_records_make(&records, profile, err);
  if (status == HEARTH_OK) {
    print_summary(&records, stream);
    fputs(records.record_count ? "---\nHeapProfileRecords:\n" : "---\nHeapProfileRecords: []\n", stream);
    for (size_t i = 0; i < records.record_count; i++)
      print_record(&records, &records.records[i], stream);
    fputs("...\n", stream);
    status = hearth_stream_flush(stream, err);
    if (status == HEARTH_OK && ret_losses)
      *ret_losses = records.losses;
  }
  hearth_llvm_records_free(&records);
  return status;
}
