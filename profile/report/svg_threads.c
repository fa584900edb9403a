/* What each thread allocated: a bar each, as long as its bytes. */
#include <inttypes.h>

#include "svg.h"

enum { WIDTH = 800, LEFT = 96, RIGHT = 16, TOP = 28, BAR_HEIGHT = 18 };

static double most_bytes(const page_timeline *timeline) {
  double most = 1;
  for (uint32_t i = 0; i < timeline->thread_count; i++)
    most = (double)timeline->threads[i].bytes > most ? (double)timeline->threads[i].bytes : most;
  return most;
}

static void draw_thread(const page_thread *thread, uint32_t row, double most, FILE *stream) {
  double y = TOP + (double)row * BAR_HEIGHT;
  char text[160];
  snprintf(text, sizeof text, "thread %u", thread->number);
  svg_text(LEFT - 6, y + 13, "end", text, stream);
  svg_rectangle_begin(LEFT, y, (double)thread->bytes / most * (WIDTH - LEFT - RIGHT), BAR_HEIGHT - 2, svg_plot, stream);
  fprintf(stream, "%" PRIu64 " blocks, %s; freed %" PRIu64 ", of other threads %" PRIu64, thread->allocs,
          hearth_units_bytes(thread->bytes).c, thread->frees, thread->frees_of_others);
  svg_rectangle_end(stream);
  snprintf(text, sizeof text, "%s in %" PRIu64, hearth_units_bytes(thread->bytes).c, thread->allocs);
  svg_text(LEFT + 6, y + 13, "start", text, stream);
}

void svg_threads(const page_model *model, FILE *stream) {
  const page_timeline *timeline = &model->timeline;
  svg_begin(WIDTH, TOP + BAR_HEIGHT * (int)timeline->thread_count + 8, model->options->title, stream);
  svg_text(3, 16, "start", "bytes allocated, and blocks, by thread", stream);
  for (uint32_t i = 0; i < timeline->thread_count; i++)
    draw_thread(&timeline->threads[i], i, most_bytes(timeline), stream);
  svg_end(stream);
}
