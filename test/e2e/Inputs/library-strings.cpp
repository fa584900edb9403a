// Strings that std::string grows, in code of the C++ library: some are read all the time, the others never again.
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#ifdef PLACED
#include <hearth/malloc.h>
#endif

static std::vector<std::string> Read, Kept;

static __attribute__((noinline)) void grow(std::string &S) {
  for (int I = 0; I < 100; I++)
    S += static_cast<char>('a' + I % 26);
}

static void addRead() {
  Read.emplace_back();
  grow(Read.back());
}

static void addKept() {
  Kept.emplace_back();
  grow(Kept.back());
}

int main() {
  long Sum = 0;
  Read.reserve(500);
  Kept.reserve(500);
  for (int I = 0; I < 500; I++) {
    addRead();
    addKept();
  }
  std::clock_t End = std::clock() + CLOCKS_PER_SEC / 20;
  do
    for (const std::string &S : Read)
      for (char C : S)
        Sum += C & 1;
  while (std::clock() < End);
  std::printf("sum %d\n", Sum > 0);
#ifdef PLACED
  static const char *const Names[] = {"other", "cold", "hot"};
  std::printf("read %s kept %s\n", Names[hearth_malloc_class(Read.back().data())],
              Names[hearth_malloc_class(Kept.back().data())]);
#endif
}
