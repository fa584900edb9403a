// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Containers of the standard library with strings in them: built, searched and walked. A string's text is a block of its own, and
// lies beside the container's, or does not.
//
// usage: containers KIND LENGTH COUNT ROUNDS, with a LENGTH of strings
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

static std::string key(unsigned number, std::size_t length) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%08u", number);
  return std::string(length > 8 ? length - 8 : 0, 'k') + digits;
}

template <class Find> static unsigned long look_up(unsigned count, unsigned lookups, std::size_t length, Find find) {
  unsigned long sum = 0;
  unsigned random = 1;
  for (unsigned i = 0; i < lookups; i++) {
    random = random * 1103515245 + 12345;
    sum += find(key((random >> 8) % count, length));
  }
  return sum;
}

template <class Container> static unsigned long walk(const Container &container, unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < rounds; i++)
    for (const auto &text : container)
      sum += static_cast<unsigned char>(text[text.size() / 2]);
  return sum;
}

int main(int arguments, char **values) {
  if (arguments != 5)
    return 2;
  std::string kind = values[1];
  std::size_t length = std::strtoul(values[2], nullptr, 10);
  unsigned count = std::atoi(values[3]), rounds = std::atoi(values[4]);
  unsigned long sum = 0;
  if (kind == "map" || kind == "map-of-text") {
    std::map<std::string, std::string> map;
    for (unsigned i = 0; i < count; i++)
      map[key(i, length)] = kind == "map" ? "" : key(i + 1, 40);
    sum = look_up(count, count * rounds, length, [&](const std::string &k) { return map.find(k)->second.size(); });
  } else if (kind == "unordered_map") {
    std::unordered_map<std::string, int> map;
    for (unsigned i = 0; i < count; i++)
      map[key(i, length)] = static_cast<int>(i);
    sum = look_up(count, count * rounds, length, [&](const std::string &k) { return map.find(k)->second; });
  } else if (kind == "set") {
    std::set<std::string> set;
    for (unsigned i = 0; i < count; i++)
      set.insert(key(i, length));
    sum = look_up(count, count * rounds, length, [&](const std::string &k) { return set.count(k); });
  } else if (kind == "list") {
    std::list<std::string> list;
    for (unsigned i = 0; i < count; i++)
      list.push_back(key(i, length));
    sum = walk(list, 10 * rounds);
  } else if (kind == "deque") {
    std::deque<std::string> deque;
    for (unsigned i = 0; i < count; i++)
      deque.push_back(key(i, length));
    sum = walk(deque, 10 * rounds);
  } else if (kind == "vector") {
    std::vector<std::string> vector;
    for (unsigned i = 0; i < count; i++)
      vector.push_back(key(i, length));
    sum = walk(vector, 10 * rounds);
  } else if (kind == "shared_ptr") {
    std::vector<std::shared_ptr<std::string>> pointers;
    for (unsigned i = 0; i < count; i++)
      pointers.push_back(std::make_shared<std::string>(key(i, length)));
    for (unsigned i = 0; i < 10 * rounds; i++)
      for (const auto &text : pointers)
        sum += static_cast<unsigned char>((*text)[length / 2]);
  } else {
    return 2;
  }
  std::printf("%s: %lu\n", kind.c_str(), sum);
  return 0;
}
