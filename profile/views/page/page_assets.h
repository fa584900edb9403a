/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files of assets/ as strings; cmake/embed.cmake makes them. */
#ifndef HEARTH_PAGE_ASSETS_H
#define HEARTH_PAGE_ASSETS_H

extern const char hearth_page_asset_html[], hearth_page_asset_css[], hearth_page_asset_js[];

#endif
