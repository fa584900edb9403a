/* Destructors of thread_local objects allocate and free when their thread has all but ended; those of the main thread, and
 * of static objects, when the program has. All is in the profile, which is written after them.
 *
 * RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t -pthread && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit | FileCheck %s
 * RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.static -pthread -static && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t.static
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit | FileCheck %s
 * RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.pie -pthread -static-pie && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t.pie
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit | FileCheck %s
 *
 * CHECK: dropped_blocks=0 dropped_stacks=0
 * CHECK: MaxSize=111 AllocCount=1 LiveAtExit=0
 * CHECK: MaxSize=111 AllocCount=20 LiveAtExit=0
 * CHECK: MaxSize=222 AllocCount=1 LiveAtExit=0
 * CHECK: MaxSize=222 AllocCount=20 LiveAtExit=0
 * CHECK: MaxSize=333 AllocCount=1 LiveAtExit=0
 * CHECK: MaxSize=444 AllocCount=1 LiveAtExit=1
 */
#include <thread>
#include <vector>

static char *volatile kept;

struct Static {
  char *block = new char[333];
  ~Static() {
    delete[] block;
    kept = new char[444];
  }
};
static Static at_exit;

struct Local {
  char *volatile block = new char[111];
  ~Local() {
    delete[] block;
    block = new char[222];
    delete[] block;
  }
};
static thread_local Local local;

int main() {
  std::vector<std::thread> threads;

  for (int i = 0; i < 20; ++i)
    threads.emplace_back([] { *local.block = 1; });
  for (auto &thread : threads)
    thread.join();
  *local.block = 1;
  return 0;
}
