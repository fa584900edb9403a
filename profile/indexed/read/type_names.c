/* The TYPES section: reading and writing. */
#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"
#include "reader_internal.h"

uint32_t hearth_profile_type_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_TYPES)->count;
}

hearth_status hearth_profile_get_type(hearth_profile *profile, uint32_t row, uint64_t *ret_id, const char **ret_name,
                                      hearth_error *err) {
  hearth_indexed_type type;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_TYPES, row, &type, sizeof type, "type", err));
  *ret_id = type.id;
  return hearth_profile_get_string(profile, type.name, ret_name, err);
}

hearth_status hearth_profile_type_name(hearth_profile *profile, uint64_t id, const char **ret_name, hearth_error *err) {
  uint32_t first = 0, end = hearth_profile_type_count(profile);
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    uint64_t found;
    HEARTH_TRY(hearth_profile_get_type(profile, middle, &found, ret_name, err));
    if (found == id)
      return HEARTH_OK;
    if (found < id)
      first = middle + 1;
    else
      end = middle;
  }
  *ret_name = "";
  return HEARTH_OK;
}

hearth_status hearth_profile_verify_types(hearth_profile *profile, hearth_error *err) {
  uint64_t previous = 0; /* no type's */
  for (uint32_t i = 0; i < hearth_profile_type_count(profile); i++) {
    const char *name;
    uint64_t id;
    HEARTH_TRY(hearth_profile_get_type(profile, i, &id, &name, err));
    if (id <= previous)
      return hearth_profile_corrupt(profile, err, "its types are not sorted at %u", i);
    if (id != hearth_type_id(name, strlen(name)))
      return hearth_profile_corrupt(profile, err, "the id of type %u is not that of its name", i);
    previous = id;
  }
  return HEARTH_OK;
}
