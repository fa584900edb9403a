/*     header | section 1 | ... | section n | names | table: nothing, section 1, ... section n, names */
#include "symbolise/elf_image.h"

#include <stdlib.h>
#include <string.h>

static const char names_name[] = ".shstrtab";

static uint64_t align(uint64_t offset) { return (offset + 7) & ~UINT64_C(7); }

/* Size of the image, or 0 if it cannot be in memory. */
static uint64_t measure(const hearth_image_section *sections, size_t count, uint64_t *ret_names) {
  uint64_t names = 1 + sizeof names_name, size = sizeof(Elf64_Ehdr);
  for (size_t i = 0; i < count; ++i) {
    names += strlen(sections[i].name) + 1;
    if (sections[i].size > (UINT64_MAX >> 2) - size)
      return 0;
    size = align(size) + sections[i].size;
  }
  *ret_names = names;
  return align(align(size) + names) + (count + 2) * sizeof(Elf64_Shdr);
}

static void write_header(uint8_t *image, uint64_t table, size_t count) {
  Elf64_Ehdr header = {.e_type = ET_REL,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_shoff = table,
                       .e_ehsize = sizeof header,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = (Elf64_Half)(count + 2),
                       .e_shstrndx = (Elf64_Half)(count + 1)};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  memcpy(image, &header, sizeof header);
}

bool hearth_elf_image_create(hearth_image_section *sections, size_t count, hearth_elf_image *ret) {
  uint64_t names_size = 0, at = sizeof(Elf64_Ehdr), name = 1;
  uint64_t size = measure(sections, count, &names_size);
  uint8_t *image = size ? calloc(1, size) : NULL;
  if (!image)
    return false;
  uint64_t table = size - (count + 2) * sizeof(Elf64_Shdr), names = table - align(names_size);
  Elf64_Shdr *row = (Elf64_Shdr *)(void *)(image + table) + 1; /* row 0 is no section */
  for (size_t i = 0; i < count; ++i, ++row) {
    at = align(at);
    *row = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                        .sh_type = SHT_PROGBITS,
                        .sh_offset = at,
                        .sh_size = sections[i].size,
                        .sh_addralign = 1};
    memcpy(image + names + name, sections[i].name, strlen(sections[i].name));
    name += strlen(sections[i].name) + 1;
    sections[i].content = image + at;
    at += sections[i].size;
  }
  *row = (Elf64_Shdr){
      .sh_name = (Elf64_Word)name, .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = names_size, .sh_addralign = 1};
  memcpy(image + names + name, names_name, sizeof names_name);
  write_header(image, table, count);
  *ret = (hearth_elf_image){image, size};
  return true;
}
