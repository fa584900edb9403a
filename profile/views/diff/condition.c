/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grammar and meaning are in the help of `hearth diff`; docs/tools.md, "Conditions", has limits. A parser by hand:
 * five tokens. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

typedef struct parser {
  const char *text, *at;
  hearth_error *err;
} parser;

static void skip_blanks(parser *p) { p->at += strspn(p->at, " \t"); }

static hearth_status expected(const parser *p, const char *what) {
  return hearth_error_set(p->err, HEARTH_E_USAGE, "condition '%s', column %zu: expected %s", p->text,
                          (size_t)(p->at - p->text) + 1, what);
}

/* Take `word` if the text goes on with it. */
static bool take(parser *p, const char *word) {
  size_t length = strlen(word);
  if (strncmp(p->at, word, length) != 0)
    return false;
  p->at += length;
  return true;
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/* Nothing in front stands for all contexts. */
static void parse_set(parser *p, hearth_condition *c) {
  static const struct {
    const char *front;
    hearth_condition set;
  } sets[] = {{"changed_", {.set = HEARTH_SET_CHANGE, .change = HEARTH_CHANGE_CLASS}},
              {"new_", {.set = HEARTH_SET_CHANGE, .change = HEARTH_CHANGE_NEW}},
              {"vanished_", {.set = HEARTH_SET_CHANGE, .change = HEARTH_CHANGE_VANISHED}},
              {"cold_", {.set = HEARTH_SET_CLASS, .hotness = HEARTH_CLASS_COLD}},
              {"notcold_", {.set = HEARTH_SET_CLASS, .hotness = HEARTH_CLASS_NOTCOLD}},
              {"hot_", {.set = HEARTH_SET_CLASS, .hotness = HEARTH_CLASS_HOT}}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    if (take(p, sets[i].front)) {
      *c = sets[i].set;
      return;
    }
}

static hearth_status parse_measure(parser *p, hearth_condition *c) {
  const char *begin = p->at;
  for (unsigned i = 0; i <= HEARTH_QUANTITY_COUNT; i++) {
    if (take(p, i == HEARTH_MEASURE_CONTEXTS ? "contexts" : hearth_quantities[i].key) && !is_word(*p->at)) {
      c->measure = i;
      return HEARTH_OK;
    }
    p->at = begin; /* "live" is the beginning of "live_allocs" */
  }
  return expected(p,
                  "bytes, allocs, accesses, byte_seconds, live, live_allocs or contexts, with cold_, notcold_, hot_, "
                  "new_, vanished_, changed_ or nothing in front");
}

static hearth_status parse_relation(parser *p, hearth_condition *c) {
  static const struct {
    const char *sign;
    unsigned relation;
  } relations[] = {{"<=", HEARTH_LESS | HEARTH_EQUAL},
                   {"<", HEARTH_LESS},
                   {">=", HEARTH_GREATER | HEARTH_EQUAL},
                   {">", HEARTH_GREATER},
                   {"==", HEARTH_EQUAL},
                   {"!=", HEARTH_LESS | HEARTH_GREATER}};
  skip_blanks(p);
  for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
    if (take(p, relations[i].sign)) {
      c->relation = relations[i].relation;
      return HEARTH_OK;
    }
  return expected(p, "<, <=, >, >=, == or !=");
}

static hearth_status parse_number(parser *p, hearth_condition *c) {
  skip_blanks(p);
  bool negative = *p->at == '-';
  c->relative = negative || *p->at == '+';
  if (c->relative && c->set == HEARTH_SET_CHANGE)
    return expected(p, "a number without sign: new, vanished and changed contexts are the change already");
  p->at += c->relative;
  size_t whole = strspn(p->at, "0123456789"), fraction = 0;
  if (whole == 0)
    return expected(p, "a number");
  if (p->at[whole] == '.' && (fraction = strspn(p->at + whole + 1, "0123456789")) == 0) {
    p->at += whole + 1;
    return expected(p, "a digit after the decimal point");
  }
  c->amount = strtod(p->at, NULL) * (negative ? -1 : 1);
  p->at += whole + (fraction ? fraction + 1 : 0);
  return HEARTH_OK;
}

static hearth_status parse_unit(parser *p, hearth_condition *c) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  bool bytes =
      c->measure == HEARTH_QUANTITY_BYTES || c->measure == HEARTH_QUANTITY_LIVE || c->measure == HEARTH_QUANTITY_PEAK;
  skip_blanks(p);
  if (take(p, "%"))
    c->percent = true;
  for (size_t i = 0; bytes && !c->percent && i < sizeof units / sizeof units[0]; i++)
    if (take(p, units[i])) {
      c->amount *= ldexp(1, 10 * (int)(i + 1));
      break;
    }
  skip_blanks(p);
  return *p->at ? expected(p, bytes ? "%, KiB, MiB, GiB, TiB or the end" : "% or the end") : HEARTH_OK;
}

hearth_status hearth_condition_parse(const char *text, hearth_condition *ret, hearth_error *err) {
  parser p = {.text = text, .at = text, .err = err};
  *ret = (hearth_condition){0};
  skip_blanks(&p);
  parse_set(&p, ret);
  HEARTH_TRY(parse_measure(&p, ret));
  HEARTH_TRY(parse_relation(&p, ret));
  HEARTH_TRY(parse_number(&p, ret));
  return parse_unit(&p, ret);
}

/* -------------------------------------------------- testing -------------------------------------------------- */

static double condition_measure(const hearth_condition *c, const hearth_diff_side *side) {
  const hearth_diff_totals *totals = c->set == HEARTH_SET_CLASS    ? &side->classes[c->hotness]
                                     : c->set == HEARTH_SET_CHANGE ? &side->changes[c->change]
                                                                   : &side->all;
  return totals->of[c->measure];
}

/* 0 of 0 is 0: nothing that stays nothing has not changed. */
static double condition_percent(double part, double whole) { return part == 0 ? 0 : 100 * part / whole; }

static double condition_value_of(const hearth_condition *c, const hearth_diff *d) {
  const hearth_diff_side *a = &d->sides[HEARTH_DIFF_A], *b = &d->sides[HEARTH_DIFF_B];
  if (c->relative) {
    double change = condition_measure(c, b) - condition_measure(c, a);
    return c->percent ? condition_percent(change, condition_measure(c, a)) : change;
  }
  const hearth_diff_side *side = c->set == HEARTH_SET_CHANGE && c->change == HEARTH_CHANGE_VANISHED ? a : b;
  return c->percent ? condition_percent(condition_measure(c, side), side->all.of[c->measure])
                    : condition_measure(c, side);
}

hearth_status hearth_condition_test(const hearth_condition *c, const hearth_diff *d, bool *ret_holds, double *ret_value,
                                    hearth_error *err) {
  bool needs_counts = c->measure == HEARTH_QUANTITY_ACCESSES;
  bool needs_classes = c->set == HEARTH_SET_CLASS || (c->set == HEARTH_SET_CHANGE && c->change == HEARTH_CHANGE_CLASS);
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    const hearth_profile_summary *summary = &d->sides[i].summary;
    if ((needs_counts && !summary->accesses_counted) || (needs_classes && !hearth_accesses_known(summary)))
      return hearth_error_set(err, HEARTH_E_NOT_FOUND,
                              "%s: accesses were not counted in every run: conditions on %s cannot be tested",
                              d->sides[i].name, needs_counts ? "accesses" : "classes");
  }
  *ret_value = condition_value_of(c, d);
  unsigned relation = *ret_value < c->amount ? HEARTH_LESS : *ret_value > c->amount ? HEARTH_GREATER : HEARTH_EQUAL;
  *ret_holds = (c->relation & relation) != 0;
  return HEARTH_OK;
}
