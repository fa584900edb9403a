/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text in HTML and XML. */
#ifndef HEARTH_PAGE_MARKUP_H
#define HEARTH_PAGE_MARKUP_H

#include <stdio.h>

/* As content or attribute value: characters of markup are escaped, control bytes are '?', bytes that are not UTF-8 are
 * U+FFFD. */
void hearth_page_put_text(const char *text, FILE *stream);

#endif
