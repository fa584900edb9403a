/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Short names and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "names.h"

typedef struct row {
  const char *given, *expected;
} row;

static void check(void (*shorten)(char *), const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *text = strdup(rows[i].given); /* no byte more than it needs: sanitizers see what is behind it */
    assert_non_null(text);
    shorten(text);
    assert_string_equal(text, rows[i].expected);
    free(text);
  }
}

static void names_lose_types_and_arguments(void **state) {
  static const row rows[] = {
      {"std::map<int, std::string>::operator[](int const&)", "std::map<>::operator[]"},
      {"void foo<int>(int)", "foo<>"},
      {"store::get(int const&) const", "store::get"},
      {"std::enable_if<(3)>(2), int>::type", "std::enable_if<>"},
      {"decltype (x(1)) foo<int>(int)", "foo<>"},
      {"decltype(x(1)) foo<int>(int)", "foo<>"},
      {"void (*getter(int))(char)", "getter"},
      {"non-virtual thunk to A::f()", "A::f"},
      {"bool f(int) [clone .isra.0]", "f"},
      {"x[abi:cxx11](int)", "x"},
  };
  (void)state;
  check(hearth_shorten_name, rows, sizeof rows / sizeof *rows);
}

static void rust_names_lose_their_hash(void **state) {
  static const row rows[] = {
      {"shop::load::h441a0ad6abc3cbd5", "shop::load"},
      {"shop::load::h441a0ad6abc3cbd", "shop::load::h441a0ad6abc3cbd"},
      {"shop::load::g441a0ad6abc3cbd5", "shop::load::g441a0ad6abc3cbd5"},
      {"::h441a0ad6abc3cbd5", "::h441a0ad6abc3cbd5"},
  };
  (void)state;
  check(hearth_shorten_name, rows, sizeof rows / sizeof *rows);
}

static void operators_keep_their_signs(void **state) {
  static const row rows[] = {
      {"operator new(unsigned long)", "operator new"},
      {"operator new[](unsigned long)", "operator new[]"},
      {"bool operator< <int>(A<int> const&, A<int> const&)", "operator<<>"},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<<>"},
      {"X::operator->() const", "X::operator->"},
      {"std::string std::operator+<char, std::char_traits<char>, std::allocator<char> >(char const*, std::string&&)",
       "std::operator+<>"},
      {"bool std::operator==<char>(std::string const&, char const*)", "std::operator==<>"},
      {"bool std::operator>=<int>(A<int> const&, A<int> const&)", "std::operator>=<>"},
      {"std::ostream& operator>><int>(std::istream&, int&)", "operator>><>"},
      {"auto operator<=><int>(A<int>, A<int>)", "operator<=><>"},
      {"bool operator<=<int>(A<int>, A<int>)", "operator<=<>"},
      {"X::operator()(int) const", "X::operator()"},
      {"A::operator std::vector<int>() const", "A::operator std::vector<>"},
      {"A::operator unsigned long() const", "A::operator unsigned long"},
      {"operator\"\" _s(char const*, unsigned long)", "operator\"\" _s"},
      {"my_operator(int)", "my_operator"},
  };
  (void)state;
  check(hearth_shorten_name, rows, sizeof rows / sizeof *rows);
}

static void library_names_are_those_of_their_users(void **state) {
  static const row rows[] = {
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&)",
       "std::string::_M_create"},
      {"std::basic_ifstream<wchar_t, std::char_traits<wchar_t> >::open(char const*)", "std::wifstream::open"},
      {"std::basic_string<char16_t>::append(int)", "std::basic_string<>::append"},
      {"auto std::__1::vector<int>::begin[abi:ne180100]()", "std::vector<>::begin"},
      {"a::(anonymous namespace)::f(int)", "a::f"},
      {"f(int)::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const", "f::{lambda#1}::operator()"},
      {"visit<T, find<f(const T*)::<lambda(const T*)> >(const T*)>", "visit<>"},
  };
  (void)state;
  check(hearth_shorten_name, rows, sizeof rows / sizeof *rows);
}

/* Names come from files: nothing is written behind their ends. */
static void other_names_stay(void **state) {
  static const row rows[] = {
      {"main", "main"},
      {"libc.so.6+0x27", "libc.so.6+0x27"},
      {"foo.part.0", "foo"},
      {"foo.constprop.0.isra.1", "foo"},
      {".cold", ".cold"},
      {"<lambda(int)>", "<lambda(int)>"},
      {"odd;\"x\"", "odd;\"x\""},
      {"((((", "(((("},
      {"", ""},
      {"a<b<c", "a<>"},
      {"f(", "f"},
      {"operator", "operator"},
      {"::", "::"},
      {"a::operator", "a::operator"},
      {"a<", "a<"},
      {"::a<", "::a<"},
      {"{", "{"},
      {"x{lambda(", "x{lambda"},
  };
  char *deep = malloc(100001);
  (void)state;
  check(hearth_shorten_name, rows, sizeof rows / sizeof *rows);
  assert_non_null(deep);
  memset(deep, '<', 100000); /* no stack is used up by brackets */
  deep[0] = 'x';
  deep[100000] = '\0';
  hearth_shorten_name(deep);
  assert_string_equal(deep, "x<>");
  free(deep);
}

static void paths_lose_steps_back(void **state) {
  static const row rows[] = {
      {"/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/map", "/usr/include/c++/12/bits/map"},
      {"b-prof/support/../../support/pma.c", "support/pma.c"},
      {"../a", "../a"},
      {"../../b/../c", "../../c"},
      {"./x", "x"},
      {"a/..", "."},
      {"/../x", "/x"},
      {"a//b/", "a/b"},
      {"/", "/"},
      {"", ""},
      {".", "."},
      {"..", ".."},
      {"a/b/..", "a"},
      {"a/.b/..c", "a/.b/..c"},
      {"(heap)", "(heap)"},
  };
  (void)state;
  check(hearth_shorten_path, rows, sizeof rows / sizeof *rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_lose_types_and_arguments),
      cmocka_unit_test(rust_names_lose_their_hash),
      cmocka_unit_test(operators_keep_their_signs),
      cmocka_unit_test(library_names_are_those_of_their_users),
      cmocka_unit_test(other_names_stay),
      cmocka_unit_test(paths_lose_steps_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
