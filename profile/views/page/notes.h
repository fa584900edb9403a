/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An optimised build in a page: the compiler and the allocator write files of JSON objects, one a line. The page gets the
 * lines as strings. */
#ifndef HEARTH_PAGE_NOTES_H
#define HEARTH_PAGE_NOTES_H

#include "hearth/json_writer.h"
#include "hearth/status.h"

typedef enum hearth_page_note { HEARTH_PAGE_NOTE_MALLOC, HEARTH_PAGE_NOTE_ANNOTATION } hearth_page_note;

/* Write the file's lines as a JSON array of strings, blank ones included. E_NOT_FOUND: it cannot be read; E_NOMEM; E_FORMAT:
 * it is another kind of file, or a line was cut: the message names the line. */
hearth_status hearth_page_notes_write(hearth_page_note kind, const char *path, hearth_json *json, hearth_error *err);

#endif
