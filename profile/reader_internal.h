/* What the verifier needs of the reader beyond its public face. */
#ifndef HEARTH_READER_INTERNAL_H
#define HEARTH_READER_INTERNAL_H

#include "hearth/profile.h"

/* Fill in `err` with the profile's name, the printf-style reason and the remedy; returns HEARTH_E_CORRUPT. */
hearth_status hearth_profile_corrupt(const hearth_profile *profile, hearth_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The string at this offset of STRINGS; any offset inside is accepted, also in the middle of a string. */
hearth_status hearth_profile_get_string(hearth_profile *profile, uint32_t offset, const char **ret, hearth_error *err);

uint32_t hearth_profile_path_count(const hearth_profile *profile);
/* Last component and parent (a lower row or HEARTH_NONE) of a path. */
hearth_status hearth_profile_get_path_row(hearth_profile *profile, uint32_t row, const char **ret_name,
                                          uint32_t *ret_parent, hearth_error *err);

/* Bucket that a function id belongs to, and the functions [*ret_first, *ret_end) that a bucket holds. */
uint32_t hearth_profile_bucket_of(const hearth_profile *profile, uint64_t id);
hearth_status hearth_profile_get_bucket(hearth_profile *profile, uint32_t bucket, uint32_t *ret_first,
                                        uint32_t *ret_end, hearth_error *err);

uint32_t hearth_profile_strings_size(const hearth_profile *profile);

/* How many blocks were looked at so far, those with the checksums themselves not counted. */
size_t hearth_profile_blocks_checked(const hearth_profile *profile);

/* Check the checksum of every block. */
hearth_status hearth_profile_check_blocks(hearth_profile *profile, hearth_error *err);

#endif
