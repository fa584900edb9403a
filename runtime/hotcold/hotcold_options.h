/* HEARTH_HOTCOLD, the adapter's environment variable: key=value pairs separated by ':'.
 *
 *   cold=on|off     default on; off: cold hints go to the program's own allocator
 *   hot=on|off      default on
 *   cold-below=N    hints below N are cold; 0 to 256, default 64
 *   hot-from=N      hints from N are hot; 0 to 256, default 254. A hint that is both is cold. */
#ifndef HEARTH_HOTCOLD_OPTIONS_H
#define HEARTH_HOTCOLD_OPTIONS_H

struct hearth_hotcold_options {
  unsigned cold_below; /* 0 to 256; 0 when switched off */
  unsigned hot_from;   /* 0 to 256; 256 when switched off */
};

/* Defaults changed by `text`, which may be NULL. A key or value that is not understood is skipped, and the first of
 * them named in one warning on standard error. Does not allocate. */
struct hearth_hotcold_options hearth_hotcold_options_parse(const char *text);

#endif
