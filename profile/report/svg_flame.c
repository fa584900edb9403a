/* A flame graph, callers above. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "page_markup.h"
#include "page_tree.h"
#include "svg.h"
#include "utf8.h"

enum { WIDTH = 1200, ROW_HEIGHT = 18, CHARACTER_WIDTH = 7, LEAST_TEXT_WIDTH = 30 };
static const double LEAST_WIDTH = 0.5; /* of a box that is drawn */

typedef struct box {
  uint32_t node, depth;
  double x, width;
} box;

/* In breadth-first order: a queue of boxes whose children are still to come. */
typedef struct boxes {
  box *rows;
  size_t count, room;
} boxes;

static hearth_status add_box(boxes *b, box row, hearth_error *err) {
  if (!hearth_array_grow(&b->rows, &b->room, b->count, sizeof *b->rows))
    return hearth_error_nomem(err);
  b->rows[b->count++] = row;
  return HEARTH_OK;
}

static int compare_widths(const void *a, const void *b) {
  const box *x = a, *y = b;
  if (x->width != y->width)
    return x->width < y->width ? 1 : -1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* Heaviest first. */
static hearth_status add_children(boxes *b, const page_tree *tree, size_t parent, double scale, hearth_error *err) {
  size_t first = b->count;
  box above = b->rows[parent];
  for (uint32_t child = tree->nodes[above.node].child; child != HEARTH_NONE; child = tree->nodes[child].sibling) {
    box row = {.node = child, .depth = above.depth + 1, .width = tree->nodes[child].sum * scale};
    if (row.width >= LEAST_WIDTH)
      HEARTH_TRY(add_box(b, row, err));
  }
  if (b->count > first)
    qsort(b->rows + first, b->count - first, sizeof *b->rows, compare_widths);
  double x = above.x;
  for (size_t i = first; i < b->count; i++) {
    b->rows[i].x = x;
    x += b->rows[i].width;
  }
  return HEARTH_OK;
}

static hearth_status lay_out(boxes *b, const page_tree *tree, hearth_error *err) {
  double sum = tree->nodes[PAGE_TREE_ROOT].sum;
  HEARTH_TRY(add_box(b, (box){.node = PAGE_TREE_ROOT, .width = WIDTH}, err));
  for (size_t i = 0; i < b->count && sum > 0; i++)
    HEARTH_TRY(add_children(b, tree, i, WIDTH / sum, err));
  return HEARTH_OK;
}

static svg_color color_of(const page_tree_node *node) {
  double cold = node->sum > 0 ? node->cold / node->sum : 0, hot = node->sum > 0 ? node->hot / node->sum : 0;
  double classified = cold + hot;
  svg_color known = svg_mix(svg_cold, svg_hot, classified > 0 ? hot / classified : 0);
  return svg_mix(svg_notcold, known, classified);
}

/* As much of a name as fits; characters are not cut. */
static void put_label(const char *name, double width, char *text, size_t size) {
  size_t fits = (size_t)(width / CHARACTER_WIDTH), used = 0, end = 0;
  while (name[end] && used < fits) {
    size_t length = hearth_utf8_length(name + end);
    length = length ? length : 1;
    if (end + length >= size)
      break;
    end += length;
    used++;
  }
  memcpy(text, name, end);
  text[end] = '\0';
}

static void draw(const page_model *model, const page_tree *tree, const box *b, FILE *stream) {
  const page_tree_node *node = &tree->nodes[b->node];
  const char *name = b->node == PAGE_TREE_ROOT ? "all" : model->functions[node->function].name;
  double y = (b->depth + 1) * ROW_HEIGHT;
  char label[256];
  svg_rectangle_begin(b->x, y, b->width, ROW_HEIGHT - 1, color_of(node), stream);
  page_put_text(name, stream);
  fprintf(stream, ": %s", svg_quantity(model->options->value, node->sum).c);
  svg_rectangle_end(stream);
  if (b->width < LEAST_TEXT_WIDTH)
    return;
  put_label(name, b->width - 4, label, sizeof label);
  svg_text(b->x + 3, y + 13, "start", label, stream);
}

static void draw_all(const page_model *model, const page_tree *tree, const boxes *b, FILE *stream) {
  char title[64];
  int rows = (int)b->rows[b->count - 1].depth + 2;
  svg_begin(WIDTH, rows * ROW_HEIGHT, model->options->title, stream);
  snprintf(title, sizeof title, "%s by call stack: %s", hearth_quantity_name(model->options->value),
           svg_quantity(model->options->value, tree->nodes[PAGE_TREE_ROOT].sum).c);
  svg_text(3, 13, "start", title, stream);
  for (size_t i = 0; i < b->count; i++)
    draw(model, tree, &b->rows[i], stream);
  svg_end(stream);
}

hearth_status svg_flame(const page_model *model, FILE *stream, hearth_error *err) {
  page_tree tree;
  boxes b = {0};
  hearth_status status = page_tree_init(&tree, model, model->options->value, err);
  if (status == HEARTH_OK)
    status = lay_out(&b, &tree, err);
  if (status == HEARTH_OK)
    draw_all(model, &tree, &b, stream);
  free(b.rows);
  page_tree_destroy(&tree);
  return status;
}
