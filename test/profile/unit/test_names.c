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

/* Mangled names, of which most are examples of RFC 2603 and of rustc-demangle's tests; short and full. */
static void rust_names_are_demangled(void **state) {
  static const struct {
    const char *mangled, *shortened, *full;
  } rows[] = {
      {"_RNvC6_123foo3bar", "123foo::bar", "123foo::bar"},
      {"_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc", "alloc::alloc::alloc", "alloc::alloc::alloc"},
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}",
       "cc::spawn::{closure#0}::{closure#0}"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
       "alloc::alloc::box_free", "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new", "<arrayvec::ArrayVec<u8, 123>>::new",
       "<arrayvec::ArrayVec<u8, 123>>::new"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y", "utf8_idents::საჭმელად_გემრიელი_სადილი",
       "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RNvC4shop4load.llvm.123", "shop::load", "shop::load"},
      {"_ZN4shop4load17h06402e5dd1038b9dE", "shop::load", "shop::load"},
      {"_ZN5alloc5slice29_$LT$impl$u20$$u5b$T$u5d$$GT$6to_vec17h06402e5dd1038b9dE", "alloc::slice::<impl [T]>::to_vec",
       "alloc::slice::<impl [T]>::to_vec"},
      {"_R", "_R", "_R"},
      {"_RNvC4shop", "_RNvC4shop", "_RNvC4shop"},
      {"_RNvB_1f", "_RNvB_1f", "_RNvB_1f"}, /* it is a part of itself */
      {"_RMC0INtC8arra4vec8ArrayVeMC0INtC8achKj7b_E", "_RMC0INtC8arra4vec8ArrayVeMC0INtC8achKj7b_E",
       "_RMC0INtC8arra4vec8ArrayVeMC0INtC8achKj7b_E"}, /* libiberty prints nothing, at NULL */
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *shortened = hearth_name_make(rows[i].mangled, HEARTH_NAMES_SHORT);
    char *full = hearth_name_make(rows[i].mangled, HEARTH_NAMES_FULL);
    assert_string_equal(shortened, rows[i].shortened);
    assert_string_equal(full, rows[i].full);
    free(shortened);
    free(full);
  }
}

/* Each tuple has the one before it twice: 2 to the power of 64 units. */
static void a_rust_name_without_an_end_stays(void **state) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  char mangled[2048] = "_RINvC1a1fTuuE";
  size_t at = strlen("INvC1a1f"), end = strlen(mangled);
  (void)state;
  for (int i = 0; i < 64; i++) {
    size_t number = at - 1;
    char reference[8] = {'B', digits[number / 62], digits[number % 62], '_', '\0'};
    at = end - strlen("_R");
    end += (size_t)snprintf(mangled + end, sizeof mangled - end, "T%s%sE", reference, reference);
  }
  snprintf(mangled + end, sizeof mangled - end, "E");
  char *name = hearth_name_make(mangled, HEARTH_NAMES_FULL);
  assert_string_equal(name, mangled);
  free(name);
  snprintf(mangled, sizeof mangled, "_RINvC1a1fTuuETB7_B7_EE");
  name = hearth_name_make(mangled, HEARTH_NAMES_FULL);
  assert_string_equal(name, "a::f::<((), ()), (((), ()), ((), ()))>");
  free(name);
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
      cmocka_unit_test(rust_names_are_demangled),
      cmocka_unit_test(a_rust_name_without_an_end_stays),
      cmocka_unit_test(operators_keep_their_signs),
      cmocka_unit_test(library_names_are_those_of_their_users),
      cmocka_unit_test(other_names_stay),
      cmocka_unit_test(paths_lose_steps_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
