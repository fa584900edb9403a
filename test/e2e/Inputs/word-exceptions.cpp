// A call through which an exception leaves: the decision site has no handler, and its caller is none.
#include "word.h"

#include <stdexcept>

extern "C" void *allocate(size_t size);

NOINLINE static void *checked(size_t size, bool fail) {
  if (fail)
    throw std::runtime_error("no");
  char *block = static_cast<char *>(allocate(size));
  block[0] = 0;
  return block;
}

// Both are decision sites, or one is: after either was left by an exception, the other one must not be taken for it.
NOINLINE static void *make_node(bool fail) {
  char *block = static_cast<char *>(checked(sizeof(node), fail));
  block[1] = 0;
  return block;
}
// Copies of one site, which share a call.
static inline void *inlined(bool fail) {
  char *block = static_cast<char *>(checked(200, fail));
  block[1] = 0;
  return block;
}
template <int> NOINLINE static void *make_payload(bool fail) { return inlined(fail); }
static void *(*const make_payloads[])(bool) = {make_payload<0>, make_payload<1>, make_payload<2>, make_payload<3>};

NOINLINE static void *attempt(void *(*make)(bool)) {
  for (bool fail = true;; fail = false)
    try {
      return make(fail);
    } catch (const std::exception &) {
    }
}

// One call makes all, so that the contexts part where the bits are set; there are two nodes for a payload.
int main() {
  node *list = nullptr;
  for (long i = 0; i < 300; i++) {
    void *(*const makes[])(bool) = {make_node, make_payloads[i % 4], make_node};
    void *blocks[3];
    for (int k = 0; k < 3; k++) {
      try {
        makes[2 - k](true);
      } catch (const std::exception &) {
      }
      blocks[k] = attempt(makes[k]);
    }
    list = prepend(list, static_cast<node *>(blocks[2]), static_cast<char *>(blocks[1]), i);
    list = prepend(list, static_cast<node *>(blocks[0]), static_cast<char *>(blocks[1]), i);
  }
  use("exceptions", list);
  return 0;
}
