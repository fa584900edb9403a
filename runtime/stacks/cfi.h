/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call frame information: the place of a function's caller, as compilers describe it for exceptions. It also covers
 * code without frame pointers. Read from a module's .eh_frame, by way of the table in its .eh_frame_hdr (Linux Standard
 * Base Core 5.0, chapter 10.6; DWARF 5, section 6.4; x86-64 only). */
#ifndef HEARTH_RUNTIME_CFI_H
#define HEARTH_RUNTIME_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hearth_cfi_kind {
  HEARTH_CFI_NONE,   /* there is no information, or it cannot be used here */
  HEARTH_CFI_RSP,    /* canonical frame address (CFA) = rsp + cfa */
  HEARTH_CFI_RBP,    /* CFA = rbp + cfa */
  HEARTH_CFI_LOADED, /* CFA = *(rbp + cfa), the caller's rbp = *rbp (GCC: aligned stacks) */
  HEARTH_CFI_ROOT,   /* the function has no caller */
} hearth_cfi_kind;

/* The return address lies below the CFA; the caller's rsp is the CFA. */
typedef struct hearth_cfi_rule {
  uint8_t kind; /* hearth_cfi_kind */
  bool known;   /* for tables of rules: false is no rule at all */
  int16_t rbp;  /* the caller's rbp lies at CFA + rbp; 0: it is still in rbp */
  int32_t cfa;  /* bytes */
} hearth_cfi_rule;

/* Copy `size` bytes at `address` to `to`. False: they cannot be read. */
typedef bool hearth_cfi_read(uintptr_t address, void *to, size_t size);

/* Where a module has its call frame information. */
typedef struct hearth_cfi_tables {
  uintptr_t header;      /* address of .eh_frame_hdr */
  uintptr_t low, high;   /* [low, high) is there as long as the process runs, and read as it lies there; may be empty */
  hearth_cfi_read *read; /* for all else */
} hearth_cfi_tables;

/* The rule for the instruction at `pc`, which lies in the module that has these tables. Whatever they hold, it reads
 * only the memory that they allow, and it ends. */
hearth_cfi_rule hearth_cfi_find(const hearth_cfi_tables *tables, uintptr_t pc);

#endif
