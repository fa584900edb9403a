// Inline chains of many depths, several calls on a line, templates, local functions of one name, lambdas, loops that are
// unrolled, functions in blocks and namespaces, unlikely code. Every call ends in `sink`, in another translation unit or
// not inlined: what matters are the debug locations of the calls.
#include "inlining.h"

namespace {

__attribute__((always_inline)) inline void leaf(int n) { sink(n); }

template <int depth> struct Nest {
  static __attribute__((always_inline)) inline void go(int n) {
    if (n & depth) sink(n + depth); else sink(n - depth);
    Nest<depth - 1>::go(n + 1); Nest<depth - 1>::go(n - 1);
  }
};
template <> struct Nest<0> {
  static __attribute__((always_inline)) inline void go(int n) { leaf(n); }
};

template <typename F> __attribute__((always_inline)) inline void twice(F f) { f(1); f(2); }

struct Local {
  int value;
  explicit Local(int n) : value(n) { sink(n); }
  ~Local() { sink(value); }
  void method(int n) const;
};

void Local::method(int n) const {
  for (int i = 0; i < 4; ++i) sink(i); for (int i = 0; i < n; ++i) sink(value + i), sink(value - i);
}

} // namespace

static __attribute__((noinline)) void init(int n) { n > 2 ? sink(n) : leaf(n + 1); }

namespace outer {
struct Shape {
  virtual ~Shape() { sink(0); }
  virtual void draw(int n);
};
void Shape::draw(int n) {
  struct Inner {
    static void run(int n) { sink(n); sink(n + 1); }
  };
  Inner::run(n);
  twice([n](int k) { sink(n + k); leaf(k); });
}
} // namespace outer

#define THREE(n) sink(n), sink(n + 1), leaf(n + 2)

__attribute__((cold, noinline)) static void unlikely(int n) { THREE(n); }

int work(int n) {
  Local local(n);
  local.method(n);
  Nest<4>::go(n);
  init(n);
  outer::Shape shape;
  shape.draw(n);
  if (__builtin_expect(n == 77, 0)) {
    unlikely(n);
    THREE(n);
  }
  other(n);
  for (int i = 0; i < 3; ++i) { if (i == n) { leaf(i); } else { leaf(n); } sink(i); }
  return n;
}

int main(int argc, char **) { return work(argc) == 42; }
