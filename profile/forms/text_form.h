/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What reader and printer of the text form have in common. The grammar is in docs/formats/indexed.md, "Text". */
#ifndef HEARTH_TEXT_INTERNAL_H
#define HEARTH_TEXT_INTERNAL_H

#define HEARTH_TEXT_VERSION 1u

#endif
