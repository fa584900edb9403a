/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rules read from this program's own call frame information: functions of every form, row by row. */
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind.h"

/* Places are one byte apart: nops, as nobody calls this. */
__asm__(".text\n"
        ".globl cases_begin\n"
        "cases_begin:\n"
        ".cfi_startproc\n"
        "nop\n" /* 0: as called */
        ".cfi_def_cfa_offset 64\n"
        "nop\n" /* 1 */
        ".cfi_offset rbx, -16\n"
        ".cfi_offset rbp, -24\n"
        ".cfi_remember_state\n"
        "nop\n" /* 2 */
        ".cfi_def_cfa_offset 8\n"
        ".cfi_restore rbp\n"
        "nop\n" /* 3: behind a first way out */
        ".cfi_restore_state\n"
        "nop\n" /* 4 */
        ".cfi_def_cfa rbp, 16\n"
        ".cfi_offset rbp, -16\n"
        "nop\n" /* 5: frame pointer */
        ".cfi_def_cfa rbx, 16\n"
        "nop\n" /* 6: of another register */
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
        ".cfi_escape 0x10, 6, 2, 0x76, 0\n"
        "nop\n" /* 7: aligned by GCC */
        ".cfi_escape 0x10, 6, 2, 0x76, 8\n"
        "nop\n" /* 8: another expression */
        ".cfi_escape 0x0f, 4, 0x77, 8, 0x80, 0\n"
        "nop\n" /* 9: a PLT's */
        ".cfi_def_cfa rsp, 16\n"
        ".cfi_same_value rbp\n"
        "nop\n" /* 10 */
        ".cfi_register rip, rdx\n"
        "nop\n" /* 11: returns elsewhere */
        ".cfi_undefined rip\n"
        "nop\n" /* 12: is not called */
        ".cfi_endproc\n"
        "nop\n" /* 13: no information */
        ".skip 300, 0x90\n"
        ".globl far_begin\n"
        "far_begin:\n"
        ".cfi_startproc\n"
        ".skip 300, 0x90\n"
        ".cfi_def_cfa_offset 16\n" /* advances by two bytes */
        ".skip 70000, 0x90\n"
        ".cfi_def_cfa_offset 1048576\n" /* by four */
        "nop\n"
        ".cfi_endproc\n");
extern const char cases_begin[], far_begin[];

static bool copy(uintptr_t address, void *to, size_t size) {
  memcpy(to, (const void *)address, size);
  return true;
}

/* The program comes first. */
static int find_header(struct dl_phdr_info *info, size_t size, void *closure) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
      *(uintptr_t *)closure = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  return 1;
}

/* Read in one way and the other. */
static hearth_cfi_rule rule_at(uintptr_t pc) {
  hearth_cfi_tables tables = {.read = copy}, there = {.high = UINTPTR_MAX};

  dl_iterate_phdr(find_header, &tables.header);
  assert_true(tables.header != 0);
  there.header = tables.header;
  hearth_cfi_rule copied = hearth_cfi_find(&tables, pc), direct = hearth_cfi_find(&there, pc);
  assert_memory_equal(&copied, &direct, sizeof copied);
  return copied;
}

static void test_rows(void **state) {
  (void)state;
  static const hearth_cfi_rule rules[] = {
      {.kind = HEARTH_CFI_RSP, .cfa = 8},
      {.kind = HEARTH_CFI_RSP, .cfa = 64},
      {.kind = HEARTH_CFI_RSP, .cfa = 64, .rbp = -24},
      {.kind = HEARTH_CFI_RSP, .cfa = 8},
      {.kind = HEARTH_CFI_RSP, .cfa = 64, .rbp = -24},
      {.kind = HEARTH_CFI_RBP, .cfa = 16, .rbp = -16},
      {.kind = HEARTH_CFI_NONE},
      {.kind = HEARTH_CFI_LOADED, .cfa = -8},
      {.kind = HEARTH_CFI_NONE},
      {.kind = HEARTH_CFI_NONE},
      {.kind = HEARTH_CFI_RSP, .cfa = 16},
      {.kind = HEARTH_CFI_NONE},
      {.kind = HEARTH_CFI_ROOT},
      {.kind = HEARTH_CFI_NONE},
  };

  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
    hearth_cfi_rule rule = rule_at((uintptr_t)cases_begin + i);
    assert_int_equal(rule.kind, rules[i].kind);
    if (rule.kind != HEARTH_CFI_NONE) {
      assert_int_equal(rule.cfa, rules[i].cfa);
      assert_int_equal(rule.rbp, rules[i].rbp);
    }
  }
}

static void test_far_rows(void **state) {
  (void)state;
  assert_int_equal(rule_at((uintptr_t)far_begin + 299).cfa, 8);
  assert_int_equal(rule_at((uintptr_t)far_begin + 300).cfa, 16);
  assert_int_equal(rule_at((uintptr_t)far_begin + 70299).cfa, 16);
  assert_int_equal(rule_at((uintptr_t)far_begin + 70300).cfa, 1048576);
}

static void test_elsewhere(void **state) {
  (void)state;
  assert_int_equal(rule_at(0).kind, HEARTH_CFI_NONE);
  assert_int_equal(rule_at(UINTPTR_MAX).kind, HEARTH_CFI_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_far_rows),
      cmocka_unit_test(test_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
