/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A std::string for each of its functions, allocated by a function of that name. */
#include <cstring>
#include <sstream>
#include <string>

enum { BYTES = 20000 };

#define MAKE(name)                                                                                                     \
  extern "C" __attribute__((noinline)) std::string *make_##name() { return new std::string(BYTES, 'x'); }

/* clang-format off */
MAKE(find_text) MAKE(find_character) MAKE(rfind) MAKE(find_last_not_of) MAKE(compare) MAKE(equal) MAKE(compare_plain) MAKE(copied)
MAKE(appended) MAKE(assigned) MAKE(replaced) MAKE(printed)
MAKE(appended_plain) MAKE(assigned_plain) MAKE(found_plain) MAKE(printed_plain)
    /* clang-format on */

    static volatile size_t sink;
#define AGAIN(expression)                                                                                              \
  for (int i = 0; i < 10; i++)                                                                                         \
  sink = sink + (size_t)(expression)

int main() {
  std::string *text = make_find_text();
  (*text)[BYTES / 2] = 'y';
  AGAIN(text->find("yx"));
  text = make_find_character();
  (*text)[BYTES / 2] = 'y';
  AGAIN(text->find('y'));
  text = make_rfind();
  (*text)[BYTES / 2] = 'y';
  AGAIN(text->rfind('y'));
  text = make_find_last_not_of();
  (*text)[BYTES / 2] = 'y';
  AGAIN(text->find_last_not_of('x'));
  std::string other(BYTES, 'x');
  text = make_compare();
  (*text)[BYTES / 2] = 'y';
  AGAIN(text->compare(other));
  text = make_equal();
  AGAIN(*text == other);
  text = make_compare_plain();
  AGAIN(text->compare(other.c_str()));
  text = make_copied();
  AGAIN(std::string(*text).size());
  text = make_appended();
  AGAIN(other.assign("").append(*text).size());
  text = make_assigned();
  AGAIN(text->assign(other).size());
  text = make_replaced();
  AGAIN(text->replace(0, 9000, other.data(), 9000).size());
  text = make_printed();
  std::ostringstream stream;
  AGAIN((stream << *text).good());
  text = make_appended_plain();
  AGAIN(other.assign("").append(text->c_str()).size());
  text = make_assigned_plain();
  AGAIN(other.assign(text->c_str()).size());
  text = make_found_plain();
  AGAIN(other.find(text->c_str()));
  text = make_printed_plain();
  AGAIN((stream << text->c_str()).good());
  return 0;
}
