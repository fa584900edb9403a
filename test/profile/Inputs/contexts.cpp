// Blocks of one helper, hot through one caller and cold through the other; inlining, recursion, virtual calls.
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Block {
  std::unique_ptr<char[]> bytes;
  explicit Block(size_t size) : bytes(new char[size]) {}
};

__attribute__((noinline)) static Block make(size_t size) { return Block(size); }
__attribute__((noinline)) static Block busy(size_t size) { return make(size); }
__attribute__((noinline)) static Block idle(size_t size) { return make(size); }

struct Node {
  std::unique_ptr<Node> left, right;
  int depth = 0;
};

__attribute__((noinline)) static std::unique_ptr<Node> grow(int depth) {
  auto node = std::make_unique<Node>();
  node->depth = depth;
  if (depth > 0) {
    node->left = grow(depth - 1);
    node->right = grow(depth - 1);
  }
  return node;
}

struct Shape {
  virtual ~Shape() = default;
  virtual int *edges() = 0;
};
struct Small : Shape {
  int *edges() override { return new int[4]; }
};
struct Large : Shape {
  int *edges() override { return new int[400]; }
};

__attribute__((noinline)) static int *draw(Shape &shape) { return shape.edges(); }

int main() {
  int sum = 0;
  std::vector<Block> kept;
  for (int i = 0; i < 8; i++)
    kept.push_back(idle(1000));
  for (int i = 0; i < 100; i++) {
    Block block = busy(64);
    for (int k = 0; k < 64; k++)
      block.bytes[k] = static_cast<char>(k + i);
    sum += block.bytes[i % 64];
  }
  std::map<std::string, std::vector<int>> table;
  for (int i = 0; i < 200; i++)
    table["a key that is too long to be stored in place " + std::to_string(i % 20)].push_back(i);
  auto tree = grow(5);
  Small small;
  Large large;
  for (int i = 0; i < 10; i++) {
    int *edges = draw(i % 2 ? static_cast<Shape &>(small) : large);
    edges[i % 4] = i;
    sum += edges[i % 4];
    delete[] edges;
  }
  return sum == 0 && kept.empty() && tree->depth == 0 ? 1 : 0;
}
