/* What the compiler and the allocator say of an optimised build: files of JSON objects, one a line. A page gets them as
 * they are, after a check that they are what they are said to be. */
#ifndef HEARTH_PAGE_NOTES_H
#define HEARTH_PAGE_NOTES_H

#include "hearth/json.h"
#include "hearth/status.h"

typedef enum page_note { PAGE_NOTE_HOTCOLD, PAGE_NOTE_ANNOTATION } page_note;

/* Write the file's objects as a JSON array. E_NOT_FOUND: it cannot be read; E_NOMEM; E_FORMAT names the line and the column. */
hearth_status page_notes_write(page_note kind, const char *path, hearth_json *json, hearth_error *err);

#endif
