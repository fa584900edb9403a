/* What functions are called in views: demangled C++ names, or the id where the profile has no name. */
#ifndef HEARTH_VIEW_NAMES_H
#define HEARTH_VIEW_NAMES_H

#include "hearth/profile.h"

typedef struct hearth_names {
  hearth_profile *profile;
  bool linkage_names;
  char **names; /* by function row; NULL: not asked for yet */
} hearth_names;

/* The profile is borrowed. Destroy also after an error. */
hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, bool linkage_names, hearth_error *err);
void hearth_names_destroy(hearth_names *names);

/* Lives as long as `names`; demangled when first asked for. */
hearth_status hearth_names_get(hearth_names *names, uint32_t function, const char **ret, hearth_error *err);

/* Demangled name, or a copy of a name that is no C++ linkage name. Free with free(); NULL: out of memory. */
char *hearth_demangle(const char *linkage_name);

#endif
