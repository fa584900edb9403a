/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The formats that `hearth merge --format=NAME` can write. */
#ifndef HEARTH_OUTPUT_FORMATS_H
#define HEARTH_OUTPUT_FORMATS_H

#include "hearth/plan.h"

typedef struct output_request {
  hearth_builder *builder;
  const hearth_plan_options *plan; /* NULL: defaults */
  const char *path;                /* "-": standard output */
  const void *code;                /* a profile of -fprofile-use that the output begins with; NULL: none */
  const char *code_name;
  size_t code_size;
  uint32_t section;               /* version of LLVM's MemProf section; 0: the default */
  void (*tell)(const char *text); /* the data that the output cannot hold */
} output_request;

typedef struct output_format {
  const char *name;
  hearth_status (*write)(const output_request *request, hearth_error *err);
  bool has_section; /* `section` may be chosen */
  bool is_indexed;  /* hearth_profile_open reads it */
} output_format;

/* The first is the default. */
extern const output_format hearth_output_formats[];

/* NULL if there is no format of this name. */
const output_format *hearth_output_format_find(const char *name);

#endif
