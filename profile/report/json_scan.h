/* Is a text a JSON object (RFC 8259)? And what are its keys? */
#ifndef HEARTH_JSON_SCAN_H
#define HEARTH_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* Called for each member of the outermost object, in order. `key` and `value` as they stand there, quotes included. */
typedef void hearth_json_member(void *context, const char *key, size_t key_size, const char *value, size_t value_size);

/* `text` is UTF-8 and NUL-terminated. Returns NULL if it is one object, else where it is not. Nesting beyond 64 is an
 * error. */
const char *hearth_json_scan_object(const char *text, hearth_json_member *member, void *context);

#endif
