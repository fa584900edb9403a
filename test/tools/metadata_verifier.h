/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks the metadata of a module by the rules of md_rules.def. */
#ifndef HEARTH_METADATA_VERIFIER_H
#define HEARTH_METADATA_VERIFIER_H

#include "hearth/md.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hearth_md_rule {
#define HEARTH_MD_RULE(NAME, name, rule) HEARTH_MD_RULE_##NAME,
#include "md_rules.def"
  HEARTH_MD_RULES
} hearth_md_rule;

const char *hearth_md_rule_name(hearth_md_rule rule); /* "needs-callsite" */
const char *hearth_md_rule_text(hearth_md_rule rule); /* the demand of the rule */

typedef struct hearth_md_finding {
  hearth_md_rule rule;
  LLVMValueRef function;    /* NULL if the finding concerns the module */
  LLVMValueRef instruction; /* NULL in the same case */
  const char *detail;       /* one line; lives until the callback returns */
} hearth_md_finding;

typedef void (*hearth_md_on_finding)(const hearth_md_finding *finding, void *data);

/* Check all heap-profile metadata of the module against md_rules.def. Calls `on_finding`, which may be NULL, for each finding and
 * returns their number. Changes nothing; takes any module that LLVM can load. */
size_t hearth_md_verify(hearth_md *md, hearth_md_on_finding on_finding, void *data);

/* "FUNCTION: RULE (DETAIL) in: INSTRUCTION [NAME]", cut to fit `size` (>= 1). */
void hearth_md_describe_finding(const hearth_md_finding *finding, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
