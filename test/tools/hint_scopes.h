/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libhint_scopes.so puts each allocation into a scope of this name and the hint's three digits, which verify_placements reads. */
#ifndef HINT_SCOPES_H
#define HINT_SCOPES_H

#define HINT_SCOPE "hint "

#endif
