#include "print.h"

#include "hearth/ids.h"

enum { NAME_WIDTH = 28 };

void hearth_print_name(const char *name, int width, FILE *stream) {
  int printed = 0;
  for (; *name; name++, printed++)
    fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, stream);
  fprintf(stream, "%*s", printed < width ? width - printed : 0, "");
}

static void print_place(const hearth_place *place, FILE *stream) {
  const hearth_frame_info *frame = &place->frame;
  const char *path = place->function.path;
  hearth_print_name(*path ? hearth_base_name(path) : "?", 0, stream);
  if (frame->line == HEARTH_LINE_UNKNOWN)
    fprintf(stream, ":?");
  else if (place->function.info.start_line)
    fprintf(stream, ":%u", place->line);
  else
    fprintf(stream, ":+%u", frame->line);
  if (frame->column)
    fprintf(stream, ":%u", frame->column);
  if (frame->discriminator)
    fprintf(stream, " discriminator %u", frame->discriminator);
  fprintf(stream, "%s\n", frame->inlined ? " (inlined)" : "");
}

hearth_status hearth_print_stack(hearth_profile *profile, hearth_names *names, uint32_t node, FILE *stream,
                                 hearth_error *err) {
  hearth_place place;
  uint32_t frame;
  while (node != HEARTH_NONE) {
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame, &node, err));
    HEARTH_TRY(hearth_place_get(profile, names, frame, &place, err));
    fputs("      ", stream);
    hearth_print_name(place.function.name, NAME_WIDTH, stream);
    fputs("  ", stream);
    print_place(&place, stream);
  }
  return HEARTH_OK;
}
