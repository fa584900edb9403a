/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of code: does an address lie in a function that the module around it exports under a name? */
#ifndef HEARTH_CODE_SYMBOLS_H
#define HEARTH_CODE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/* A program or library that is loaded, by its hash table of exported names. Pointers into its memory. */
struct hearth_code_module {
  uintptr_t bias; /* is added to the addresses in its symbols */
  const void *symbols;
  const char *strings;
  const uint32_t *hash_table;
  const void *header;      /* the file's first bytes */
  const uint8_t *build_id; /* NULL: it has none */
  uint32_t build_id_size;
};

/* Can modules be found at all? It takes glibc 2.35 or newer. */
bool hearth_code_is_known(void);

/* The module that an address lies in; false if there is none. Takes no lock. */
bool hearth_code_module_find(uintptr_t address, struct hearth_code_module *ret);

/* The hash that names are looked up by: the one of the ELF section .gnu.hash. */
uint32_t hearth_code_name_hash(const char *name, uint32_t bytes);

/* Where the file has the code at this address, which lies in the module. */
uint64_t hearth_code_module_offset(const struct hearth_code_module *module, uintptr_t address);

/* Does the address lie in an exported function of this name? The name need not be terminated. */
bool hearth_code_module_names(const struct hearth_code_module *module, const char *name, uint32_t bytes, uint32_t hash,
                              uintptr_t address);

#endif
