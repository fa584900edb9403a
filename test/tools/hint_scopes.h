/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What libhint_scopes.so and verify_placements agree on: a scope of this name and the hint's three digits is around each
 * allocation. */
#ifndef HINT_SCOPES_H
#define HINT_SCOPES_H

#define HINT_SCOPE "hint "

#endif
