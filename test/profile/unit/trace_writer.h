/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes traces of events that a test makes up, as the runtime writes those of a program. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "hearth/trace.h"

typedef struct hearth_trace_writer hearth_trace_writer;

/* NULL: out of memory. Errors are kept until hearth_trace_writer_finish. */
hearth_trace_writer *hearth_trace_writer_create(const hearth_trace_info *info);
void hearth_trace_writer_add_mapping(hearth_trace_writer *w, const hearth_trace_mapping *mapping);
void hearth_trace_writer_add_node(hearth_trace_writer *w, const hearth_raw_stack_node *node);
/* Events of one thread, at most HEARTH_TRACE_EVENTS_MOST, as a block. All mappings and nodes come first. */
void hearth_trace_writer_add_block(hearth_trace_writer *w, const hearth_trace_event *events, uint32_t count,
                                   uint32_t thread);
void hearth_trace_writer_add_end(hearth_trace_writer *w, const hearth_trace_end *end);
/* What was written, to be freed. E_NOMEM. The writer is destroyed. */
hearth_status hearth_trace_writer_finish(hearth_trace_writer *w, uint8_t **ret, size_t *ret_size, hearth_error *err);

#endif
