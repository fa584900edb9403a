/* Options of the runtime; their names, defaults and meaning are in options.def. */
#ifndef HEARTH_RUNTIME_OPTIONS_H
#define HEARTH_RUNTIME_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define HEARTH_OPTION_TEXT_SIZE 4096 /* longest value, with its NUL */

enum { HEARTH_MODE_AGGREGATE, HEARTH_MODE_TRACE, HEARTH_MODE_LIVE }; /* of `mode` */
enum { HEARTH_FORMAT_HEARTH, HEARTH_FORMAT_LLVM };                   /* values of the option `format` */
enum { HEARTH_RECURSION_FOLD, HEARTH_RECURSION_FULL };               /* of `recursion` */
enum { HEARTH_UNWIND_AUTO, HEARTH_UNWIND_FP };                       /* of `unwind` */

typedef struct hearth_options {
#define HEARTH_OPTION_TEXT(name, standard, description)                char name[HEARTH_OPTION_TEXT_SIZE];
#define HEARTH_OPTION_NUMBER(name, standard, least, most, description) uint32_t name;
#define HEARTH_OPTION_SECONDS(name, standard, least, most, description) uint32_t name; /* in milliseconds */
#define HEARTH_OPTION_CHOICE(name, choices, description)               uint32_t name;
#include "options.def"
} hearth_options;

/* Defaults. */
void hearth_options_begin(hearth_options *options);

/* Apply the settings in `string`, which may be NULL; `source` names it in messages. Settings are separated by ':', a
 * value in '...' or "..." may hold ':'. Unknown keys are listed in one warning; a value that is out of range, or no
 * number, gives a message and changes nothing. */
void hearth_options_apply(hearth_options *options, const char *string, const char *source);

/* Print all options with description and current value to stderr. */
void hearth_options_print(const hearth_options *options);

#endif
