/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scenes: each grows around a subject, its seed, which is drawn by the lines that it touches. Another one is in the scene as
 * often as it was touched in the seed's windows. Loads are scaled afterwards, so that a subject touches on average what it
 * did. "Random" numbers are hashes: equal profiles have equal scenes. */
#include <stdlib.h>

#include "array.h"
#include "planner.h"

/* Subjects with less than this part of the lines are not looked up in pairs. */
enum { STRONG_PART = 4096, LINES_OF_PAGE = 64 };

typedef struct staging {
  planner *p;
  double lines;     /* of all subjects in a window */
  uint64_t *seeded; /* of each subject: the scenes that it is the seed of */
  uint32_t *strong; /* of each subject: its row of `chances`, or HEARTH_NONE */
  uint32_t strong_count;
  bool *is_paired; /* of each strong one */
  float (*chances)[PLAN_SCENES];
} staging;

static void choose_seeds(staging *s) {
  double sum = 0;
  uint32_t scene = 0;
  for (uint32_t i = 0; i < s->p->subject_count; i++) {
    sum += s->p->subjects[i].window_lines;
    for (; scene < PLAN_SCENES && sum > (scene + 0.5) / PLAN_SCENES * s->lines; scene++)
      s->seeded[i] |= UINT64_C(1) << scene;
  }
}

static void find_strong(staging *s) {
  for (uint32_t i = 0; i < s->p->subject_count; i++) {
    bool is_strong = s->p->subjects[i].window_lines * STRONG_PART >= s->lines;
    s->strong[i] = is_strong ? s->strong_count++ : HEARTH_NONE;
  }
}

/* From 0 to 1, evenly. */
static double drawn(uint32_t subject, uint32_t scene) {
  return (double)(id_table_mix((uint64_t)subject * PLAN_SCENES + scene) >> 11) / (double)(UINT64_C(1) << 53);
}

/* What is not paired with anything may be in any scene. */
static double chance_of(const staging *s, uint32_t subject, uint32_t scene) {
  uint32_t row = s->strong[subject];
  if (s->seeded[subject] >> scene & 1)
    return 1;
  return row != HEARTH_NONE && s->is_paired[row] ? s->chances[row][scene] : s->p->subjects[subject].share;
}

static void cast(staging *s, uint32_t number) {
  plan_subject *subject = &s->p->subjects[number];
  for (uint32_t i = 0; i < PLAN_SCENES; i++)
    if (drawn(number, i) < chance_of(s, number, i))
      subject->scenes |= UINT64_C(1) << i;
  if (subject->scenes == 0 && subject->share > 0)
    subject->scenes = UINT64_C(1) << number % PLAN_SCENES;
  double share = plan_share_of_scenes(subject);
  if (share > 0) {
    subject->touched *= subject->share / share;
    subject->pages *= subject->share / share;
    subject->walk *= subject->share / share;
    subject->walk = subject->walk < 1 ? subject->walk : 1;
  }
}

/* What the profiled pages held beside the subjects that walk together, for each byte of these and of the others. */
static double between(const planner *p, uint32_t moment) {
  double fill = 0, others = 0;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    const plan_subject *s = &p->subjects[i];
    bool walks = s->walk > 0 && (moment >= PLAN_SCENES || s->scenes >> moment & 1);
    fill += walks ? s->fill : 0;
    others += walks ? 0 : s->blocks * s->size;
  }
  return fill > 1.0 / LINES_OF_PAGE && fill < 1 && others > 0 ? (1 - fill) / fill / others : 0;
}

static hearth_status stage(staging *s) {
  planner *p = s->p;
  HEARTH_TRY(hearth_array_create(&s->seeded, p->subject_count, sizeof *s->seeded, p->err));
  HEARTH_TRY(hearth_array_create(&s->strong, p->subject_count, sizeof *s->strong, p->err));
  for (uint32_t i = 0; i < p->subject_count; i++)
    s->lines += p->subjects[i].window_lines;
  choose_seeds(s);
  find_strong(s);
  HEARTH_TRY(hearth_array_create(&s->is_paired, s->strong_count, sizeof *s->is_paired, p->err));
  HEARTH_TRY(hearth_array_create(&s->chances, s->strong_count, sizeof *s->chances, p->err));
  for (uint32_t i = 0; i < p->subject_count; i++)
    cast(s, i);
  for (uint32_t i = 0; i < PLAN_MOMENTS; i++)
    p->time.between[i] = i <= PLAN_SCENES ? between(p, i) : p->time.between[PLAN_SCENES]; /* spans are alike in this */
  return HEARTH_OK;
}

hearth_status hearth_plan_make_scenes(planner *p) {
  staging s = {.p = p};
  hearth_status status = stage(&s);
  free(s.seeded);
  free(s.strong);
  free(s.is_paired);
  free(s.chances);
  return status;
}
