/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names for the activities of a program. They become frames of the contexts that it allocates in: the outermost frames,
 * in front of the thread's first function. Words:
 *
 *   scope     a name that holds from where it is entered to where it is left, in one thread; scopes nest
 *   category  a group of scopes; the runtime's option `scopes` says which categories are recorded
 *
 * There is nothing to link: without a runtime, or where the category is off, entering and leaving a scope test a byte.
 *
 *   void handle(request *r) {
 *     HEARTH_SCOPE("server", "request");                  C and C++: until the end of the block
 *     hearth::scope statement("sql", r->statement);       C++: a name that is known at run time only
 *
 * Names and categories are NUL-terminated. The runtime keeps 255 bytes of a name, and the outermost 32 of nested
 * scopes. A scope must be left by the thread that entered it; one that was not left (longjmp) ends with the one around
 * it. */
#ifndef HEARTH_CONTEXT_H
#define HEARTH_CONTEXT_H

#include "hearth/rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of these for each place in the program that enters a scope; static, as its strings are. */
typedef struct hearth_scope_site {
  const char *category, *name;
  unsigned char state; /* 0: not asked yet; atomic */
} hearth_scope_site;

#define HEARTH_SCOPE_OFF 1 /* state: nobody records it, now and later */
#define HEARTH_SCOPE_ON  2

/* hearth_scope_leave needs this; 0: no scope was entered. */
typedef unsigned hearth_scope_token;

/* Do not call these. They are the runtime's side (libhearth_rt.a, libhearth_preload.so). */
hearth_scope_token __hearth_scope_enter(hearth_scope_site *site);
hearth_scope_token __hearth_scope_push(const char *category, const char *name);
void __hearth_scope_leave(hearth_scope_token token);

static inline hearth_scope_token hearth_scope_enter_(hearth_scope_site *site) {
  hearth_scope_token (*enter)(hearth_scope_site *site);

  HEARTH_FIND_OPTIONAL(enter, __hearth_scope_enter);
  if (enter)
    return enter(site);
  __atomic_store_n(&site->state, HEARTH_SCOPE_OFF, __ATOMIC_RELAXED);
  return 0;
}

/* Enter the scope of a site. */
static inline hearth_scope_token hearth_scope_enter(hearth_scope_site *site) {
  if (__builtin_expect(__atomic_load_n(&site->state, __ATOMIC_RELAXED) == HEARTH_SCOPE_OFF, 1))
    return 0;
  return hearth_scope_enter_(site);
}

/* The same for a name that is known at run time only; it must not change until the scope is left. Each call compares
 * the category's name. */
static inline hearth_scope_token hearth_context_push(const char *category, const char *name) {
  hearth_scope_token (*push)(const char *category, const char *name);

  HEARTH_FIND_OPTIONAL(push, __hearth_scope_push);
  return push ? push(category, name) : 0;
}

/* Leave the scope that the token stands for, and those within it that were not left. */
static inline void hearth_context_pop(hearth_scope_token token) {
  void (*leave)(hearth_scope_token token);

  if (__builtin_expect(token == 0, 1))
    return;
  HEARTH_FIND_OPTIONAL(leave, __hearth_scope_leave);
  leave(token);
}

static inline void hearth_scope_leave_(const hearth_scope_token *token) { hearth_context_pop(*token); }

#ifdef __cplusplus
}
#endif

#define HEARTH_SCOPE_JOIN_(a, b) a##b
#define HEARTH_SCOPE_JOIN(a, b)  HEARTH_SCOPE_JOIN_(a, b)

/* Enter a scope, and leave it at the end of the enclosing block; a declaration. Both are string literals. */
#define HEARTH_SCOPE(category, name)                                                                                   \
  static hearth_scope_site HEARTH_SCOPE_JOIN(hearth_scope_site_, __LINE__) = {category, name, 0};                      \
  __attribute__((cleanup(hearth_scope_leave_), unused)) const hearth_scope_token HEARTH_SCOPE_JOIN(                    \
      hearth_scope_token_, __LINE__) = hearth_scope_enter(&HEARTH_SCOPE_JOIN(hearth_scope_site_, __LINE__))

#ifdef __cplusplus
namespace hearth {

/* hearth_context_push as an object. */
class scope {
public:
  scope(const char *category, const char *name) : token_(hearth_context_push(category, name)) {}
  ~scope() { hearth_context_pop(token_); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;

private:
  hearth_scope_token token_;
};

} // namespace hearth
#endif

#endif
