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
NOINLINE static void *make_payload(bool fail) {
  char *block = static_cast<char *>(checked(200, fail));
  block[1] = 0;
  return block;
}

NOINLINE static void *attempt(void *(*make)(bool)) {
  for (bool fail = true;; fail = false)
    try {
      return make(fail);
    } catch (const std::exception &) {
    }
}

int main() {
  node *list = nullptr;
  for (long i = 0; i < 300; i++) {
    try {
      make_node(true);
    } catch (const std::exception &) {
    }
    auto *payload = static_cast<char *>(attempt(make_payload));
    try {
      make_payload(true);
    } catch (const std::exception &) {
    }
    auto *own = static_cast<node *>(attempt(make_node));
    list = prepend(list, own, payload, i);
  }
  use("exceptions", list);
  return 0;
}
