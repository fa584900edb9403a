// Allocations of one and of several contexts, called and invoked, inlined and not, in templates and containers.
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <vector>
struct Shape {
  virtual ~Shape() {}
  virtual long area() const = 0;
};
struct Box : Shape {
  long side;
  explicit Box(long side) : side(side) {}
  long area() const override { return side * side; }
};
struct Note {
  char text[120];
};
template <class T, class... A> __attribute__((noinline)) T *create(A... a) { return new T(a...); }
static __attribute__((noinline)) char *bytes(long n) {
  char *p = new char[n];
  p[0] = 1;
  return p;
}
struct Item {
  Shape *shape;
  Note *note;
  char *blob;
  std::unique_ptr<long[]> numbers;
};
static std::vector<Item> items;
static std::map<long, long> index_of;
static void add(long key) {
  Item item{create<Box>(key), create<Note>(), bytes(24), nullptr};
  item.numbers.reset(new long[20]);
  char *spare = bytes(300);
  spare[1] = 2;
  items.push_back(std::move(item));
  index_of[key] = key;
}
int main() {
  for (long i = 0; i < 500; i++)
    add(i);
  long sum = 0;
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (Item &item : items)
      sum += item.shape->area() + item.blob[3];
  while (clock() < end);
  for (auto &pair : index_of)
    sum += pair.second;
  std::printf("%d\n", sum > 0);
}
