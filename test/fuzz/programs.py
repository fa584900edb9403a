#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random C++ programs whose hot and cold blocks are known, and builds each plain, for profiling and with its profile.

A program is a graph of functions, which call each other in all ways that C++ has and end at one of a few allocation calls. A
root calls the graph along a fixed path; all its blocks are hot or all are cold. What fails: another output than the plain
program's, more than 1.1 times its stack, a hot block in the cold range, a compiler or command that fails. Exit status 1 after
findings; the sources and commands of a finding stay in DIR/fuzz/programs, and its seed makes the same program again."""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import shutil
import subprocess
import sys

MODES = {"O1": ["-O1"], "O2": ["-O2"], "Os": ["-Os"], "thin": ["-O2", "-flto=thin"], "full": ["-O2", "-flto=full"]}

HEADER = r"""
#pragma once
#include <coroutine>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
extern "C" int hearth_malloc_class(const void *) __attribute__((weak));
typedef unsigned long Path; /* a function takes the lowest bit to choose whom it calls */
struct State {
  unsigned long sum;
  jmp_buf *jump;    /* of the innermost function that can be jumped to */
  char *block;      /* that a jump hands over */
  unsigned depth;   /* recursive calls left to make */
  unsigned steps;   /* tail calls left to make */
  unsigned size;    /* of the block made last */
  bool hot, is_new; /* of this block */
};
struct Thrown { char *block; };
struct Generator {
  struct promise_type {
    char *block;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(char *b) { block = b; return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};
struct Task { /* starts when it is awaited, and goes on with who awaited it: both without a return in between */
  struct promise_type {
    char *block;
    std::coroutine_handle<> next = std::noop_coroutine();
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().next; }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(char *b) { block = b; }
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) { handle.promise().next = h; return handle; }
  char *await_resume() { char *b = handle.promise().block; handle.destroy(); return b; }
};
void on_thread(void *(*work)(void *), void *argument); /* and wait, and measure the stack */
"""

MAIN = r"""
static unsigned long stack_most;
void on_thread(void *(*work)(void *), void *argument) {
  const size_t bytes = 64ul << 20, page = 4096;
  static unsigned char in_memory[(64ul << 20) / 4096];
  char *stack = (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  madvise(stack, bytes, MADV_NOHUGEPAGE);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, bytes) || pthread_create(&thread, &attributes, work, argument))
    abort();
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  mincore(stack, bytes, in_memory);
  size_t unused = 0;
  while (unused < bytes / page && !(in_memory[unused] & 1))
    unused++;
  if (stack_most < bytes - unused * page)
    stack_most = bytes - unused * page;
  munmap(stack, bytes);
}
static struct Kept { char *block; unsigned size; bool hot, is_new; } kept[4096];
static unsigned count;
static void keep(const State &s, char *block) { kept[count++] = {block, s.size, s.hot, s.is_new}; }
static void *program(void *) {
  State s{};
  make_all(s);
  for (unsigned round = 0; round < 4000; round++)
    for (unsigned i = 0; i < count; i++)
      if (kept[i].hot)
        for (unsigned k = 0; k < kept[i].size; k += 32)
          s.sum += (unsigned char)kept[i].block[k]++;
  unsigned placed[2][3] = {};
  for (unsigned i = 0; i < count; i++) {
    placed[kept[i].hot][hearth_malloc_class ? hearth_malloc_class(kept[i].block) : 0]++;
    for (unsigned k = 0; k < kept[i].size; k += 32)
      s.sum = s.sum * 31 + (unsigned char)kept[i].block[k];
    if (kept[i].is_new)
      delete[] kept[i].block;
    else
      free(kept[i].block);
  }
  printf("%lu\n", s.sum);
  for (int hot = 0; hot < 2; hot++)
    fprintf(stderr, "placed %s %u %u %u\n", hot ? "hot" : "cold", placed[hot][0], placed[hot][1], placed[hot][2]);
  return nullptr;
}
int main() {
  on_thread(program, nullptr);
  fprintf(stderr, "stack %lu\n", stack_most);
}
"""

# Bodies of functions: @ is the function's name, {a} and {b} are calls of others, {call} is a choice between the two. {before}
# stands in front of the function.
BODIES = {
    "direct": ("", "char *block = {call}; s.sum = s.sum * 3 + block[0]; return block;"),
    "branches": ("", "char *block; if (p & 1) { block = {a}; s.sum += 5; } else { s.sum ^= 9; block = {b}; } return block;"),
    "tail": ("", "s.sum += 7; return {call};"),
    "virtual": (
        "struct @_base { virtual char *make(State &s, Path p) = 0; };\n"
        "struct @_one : @_base { char *make(State &s, Path p) override { char *block = {a}; s.sum++; return block; } };\n"
        "struct @_two : @_base { char *make(State &s, Path p) override { return {b}; } };\n"
        "static @_one @_object_one; static @_two @_object_two; static @_base *@_objects[] = {&@_object_one, &@_object_two};\n",
        "char *block = @_objects[p & 1]->make(s, p); s.sum += 2; return block;"),
    "pointer": (
        "static char *(*volatile @_table[])(State &, Path) = {{A}, {B}};\n",
        "char *block = @_table[p & 1](s, p >> 1); s.sum += 11; return block;"),
    "constant_pointer": (
        "static char *(*const @_table[])(State &, Path) = {{A}, {B}};\n", "s.sum++; return @_table[p & 1](s, p >> 1);"),
    "function": (
        "static std::function<char *(State &, Path)> @_table[] = {{A}, [](State &s, Path p) { s.sum++; return {B}(s, p); }};\n",
        "char *block = @_table[p & 1](s, p >> 1); s.sum += 13; return block;"),
    "recursion": (
        "", "{room} char *block; if (s.depth) { s.depth--; block = @(s, p); } else block = {call}; s.sum++; return block;"),
    "mutual": (
        "char *@(State &s, Path p);\n"
        "static __attribute__((noinline)) char *@_other(State &s, Path p) { {room} char *block = @(s, p); s.sum++; return block; }\n",
        "{room} char *block; if (s.depth) { s.depth--; block = s.depth & 1 ? @_other(s, p) : @(s, p); } else block = {call};"
        " s.sum++; return block;"),
    "throws": ("", "char *block = {call}; s.sum++; if (p & 4) throw Thrown{block}; return block;"),
    "catches": (
        "", "jmp_buf *jump = s.jump; char *block; try { block = {call}; } catch (const Thrown &t) { block = t.block; s.jump = jump; }"
        " s.sum += 17; return block;"),
    "catches_and_calls": (
        "", "jmp_buf *jump = s.jump; char *block = nullptr; try { block = {a}; } catch (const Thrown &t) { s.jump = jump; block = t.block; }"
        " if (p & 2) { if (s.is_new) delete[] block; else free(block); block = {b}; } return block;"),
    "jumps": ("", "char *block = {call}; s.sum++; if (s.jump && (p & 4)) { s.block = block; longjmp(*s.jump, 1); } return block;"),
    "is_jumped_to": (
        "", "jmp_buf *outer = s.jump, here; s.jump = &here; if (setjmp(here) == 0) { char *block = {call}; s.block = block; }"
        " s.jump = outer; s.sum += 19; return s.block;"),
    "thread": (
        "struct @_job { State &s; Path p; char *block; };\n"
        "static void *@_work(void *argument) { auto *job = (@_job *)argument; State &s = job->s; Path p = job->p; jmp_buf *jump = s.jump;\n"
        "  s.jump = nullptr;\n  try {\n    if (s.hot)\n      job->block = {call};\n    else\n      job->block = {call};\n"
        "  } catch (const Thrown &t) { job->block = t.block; }\n  s.jump = jump;\n  return nullptr; }\n",
        "@_job job = {s, p, nullptr}; on_thread(@_work, &job); return job.block;"),
    "template": (
        "template <char *(*F)(State &, Path), int N> static char *@_template(State &s, Path p) { char room[N]; memset(room, (int)p, N);"
        " char *block = F(s, p); s.sum += room[p % N]; return block; }\n",
        "return p & 1 ? @_template<{A}, 8>(s, p >> 1) : @_template<{B}, 24>(s, p >> 1);"),
    "generator": (
        "static Generator @_generate(State &s, Path p) { for (;;) co_yield {call}; }\n",
        "auto handle = @_generate(s, p).handle; handle.resume(); char *block = handle.promise().block; handle.destroy(); return block;"),
    "task": (
        "static Task @_leaf(State &s, Path p) { co_return {call}; }\n"
        "static Task @_task(State &s, Path p) { char *block = co_await @_leaf(s, p); s.sum++; co_return block; }\n",
        "auto handle = @_task(s, p).handle; handle.resume(); char *block = handle.promise().block; handle.destroy(); return block;"),
    "machine": (
        "char *@(State &s, Path p);\n"
        "static __attribute__((noinline)) char *@_even(State &s, Path p) { s.sum += s.steps; return @(s, p); }\n"
        "static __attribute__((noinline)) char *@_odd(State &s, Path p) { s.sum ^= s.steps; return @(s, p); }\n",
        "if (!s.steps) return {call}; s.steps--; return p & 1 ? @_odd(s, p) : @_even(s, p);"),
}
LEAVES = {
    "malloc": "(char *)malloc(s.size)",
    "calloc": "(char *)calloc(s.size, 1)",
    "realloc": "(char *)realloc(malloc(8), s.size)",
    "aligned": "(char *)aligned_alloc(64, s.size = (s.size + 63) / 64 * 64)",
    "strdup": "strdup(\"{text}\"); s.size = {length}",
    "array": "new char[s.size]",
    "nothrow": "new (std::nothrow) char[s.size]",
}


def write_program(seed, directory):
    """Main.cpp and other.cpp, whose functions call each other."""
    rng = random.Random(seed)
    count, leaves = rng.randrange(8, 18), rng.randrange(1, 4)
    names = [f"f{i}" for i in range(count)]
    files = {"main.cpp": "", "other.cpp": ""}
    header = HEADER + "".join(f"char *{name}(State &s, Path p);\n" for name in names[:-leaves])
    for name in names[-leaves:]:
        kind = rng.choice(list(LEAVES))
        length = rng.randrange(20, 300)
        made = LEAVES[kind].format(text="x" * (length - 1), length=length)
        is_new = "true" if kind in ("array", "nothrow") else "false"
        body = (f"{{ s.size = {length} + p % 3 * 16; char *block = {made}; s.is_new = {is_new}; memset(block, 'a', s.size - 1);\n"
                "  block[s.size - 1] = 0; return block; }\n")
        linkage = rng.choice(("inline ", "", "__attribute__((noinline)) "))
        if linkage == "inline ":
            header += f"{linkage}char *{name}(State &s, Path p) {body}"
        else:
            header += f"char *{name}(State &s, Path p);\n"
            files[rng.choice(list(files))] += f"{linkage}char *{name}(State &s, Path p) {body}"
    for i in reversed(range(count - leaves)):
        before, body = BODIES[rng.choice(list(BODIES))]
        near = names[i + 1:i + 5] # long ways rather than short ones
        words = {"A": rng.choice(near), "B": rng.choice(near), "room": "char room[400]; asm volatile(\"\" : : \"r\"(room) : \"memory\");"}
        words.update(a=f"{words['A']}(s, p >> 1)", b=f"{words['B']}(s, p >> 1)")
        words["call"] = f"(p & 1 ? {words['a']} : {words['b']})"
        text = f"{before}{rng.choice(('', '__attribute__((noinline)) '))}char *@(State &s, Path p) {{ {body} }}\n"
        text = re.sub(r"\{(\w+)\}", lambda m: words.get(m[1], m[0]), text).replace("@", names[i])
        files[rng.choice(list(files))] += text
    files["main.cpp"] += write_roots(rng, names) + MAIN
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write('#include "program.h"\n' + ("#include <functional>\n" if "std::function" in text else "") + text)
    with open(os.path.join(directory, "program.h"), "w", encoding="utf-8") as f:
        f.write(header)


def write_roots(rng, names):
    """The roots, and make_all, which calls hot and cold ones in turn. Each goes deep once."""
    text = calls = ""
    roots = [True, False] + [rng.random() < 0.5 for _ in range(rng.randrange(1, 5))]
    rng.shuffle(roots)
    for i, hot in enumerate(roots):
        path, varied, entry = rng.randrange(1 << 16), rng.choice((0, 0, 1, 5)), rng.choice(names[:3])
        blocks = rng.randrange(40, 80) if hot else rng.randrange(80, 200)
        text += (f"{rng.choice(('static', 'static __attribute__((noinline))'))} char *root{i}(State &s, Path i) {{\n"
                 f"  s.jump = nullptr; s.hot = {str(hot).lower()}; s.depth = i ? i % 4 : 3000; s.steps = i ? i % 3 : 20000;\n"
                 f"  char *block; try {{ block = {entry}(s, {path}ul ^ (i & {varied})); }} catch (const Thrown &t) {{ block = t.block; }}\n"
                 "  s.sum++; return block;\n}\n")
        calls += f"    if (i < {blocks})\n      keep(s, root{i}(s, i));\n"
    return ("struct Kept;\nstatic void keep(const State &s, char *block);\n" + text +
            f"static void make_all(State &s) {{\n  for (Path i = 0; i < 200; i++) {{\n{calls}  }}\n}}\n")


class Finding(Exception):
    pass


class Trial:
    """One program in one mode."""

    def __init__(self, options, seed, mode):
        self.options, self.seed, self.mode = options, seed, mode
        self.directory = os.path.join(options.build, "fuzz", "programs", f"{seed}-{mode}")
        self.hearth = os.path.join(options.build, "bin", "hearth")
        self.findings = []
        self.placed = {"cold": [0, 0, 0], "hot": [0, 0, 0]}

    def run(self, what, command, **environment):
        with open(os.path.join(self.directory, "commands"), "a", encoding="utf-8") as f:
            f.write(shlex.join([f"{k}={v}" for k, v in environment.items()] + command) + "\n")
        try:
            result = subprocess.run(command, cwd=self.directory, env={**os.environ, **environment}, text=True, check=False,
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=self.options.seconds)
        except subprocess.TimeoutExpired as e:
            raise Finding(f"{what}: takes more than {self.options.seconds} seconds") from e
        if result.returncode != 0:
            raise Finding(f"{what}: exit status {result.returncode}: {result.stderr[-500:]}")
        return result

    def compile(self, name, flags):
        clang = f"/usr/lib/llvm-{self.options.llvm}/bin/clang++"
        linker = ["-fuse-ld=lld"] if self.mode in ("thin", "full") else []
        self.run(f"compile {name}", [clang, "-std=c++20", *MODES[self.mode], *linker, "main.cpp", "other.cpp", *flags, "-o", name, "-pthread"])

    def flags(self, *words):
        if self.mode in ("thin", "full") and words[0] == "use":
            words += (f"--lto={self.mode}",)
        clang = f"--clang=clang-{self.options.llvm}"
        return self.run("flags", [self.hearth, "flags", *words, clang]).stdout.split()

    def outcome(self, name, **environment):
        """What the program prints, its stack, and how many {cold, hot} blocks were placed {nowhere, cold, hot}."""
        result = self.run(f"run {name}", [os.path.join(self.directory, name)], **environment)
        placed = {m[1]: [int(n) for n in m[2].split()] for m in re.finditer(r"^placed (\w+) (.*)$", result.stderr, re.M)}
        return result.stdout, int(re.search(r"^stack (\d+)$", result.stderr, re.M)[1]), placed

    def compare(self, name, plain, **environment):
        output, stack, placed = self.outcome(name, **environment)
        if output != plain[0]:
            self.findings.append(f"{name}: prints {output!r}, plain {plain[0]!r}")
        if stack > 1.1 * plain[1]:
            self.findings.append(f"{name}: takes {stack} bytes of stack, plain {plain[1]}")
        if placed["hot"][1] > 0:
            self.findings.append(f"{name}: {placed['hot'][1]} of {sum(placed['hot'])} hot blocks are among the cold ones")
        return placed

    def check(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        write_program(self.seed, self.directory)
        try:
            self.compile("plain", [])
            plain = self.outcome("plain")
            self.compile("instrumented", self.flags("instrument"))
            self.compare("instrumented", plain, HEARTH_OPTIONS=f"log_path={self.directory}/raw")
            raw = [n for n in os.listdir(self.directory) if n.startswith("raw")]
            layout = ("one", "calls")[self.seed % 2]
            self.run("index", [self.hearth, "index", "-q", f"--layout={layout}", *raw, "--binary", "instrumented", "-o", "heap"])
            self.compile("optimised", self.flags("use", "heap"))
            self.placed = self.compare("optimised", plain)
        except Finding as e:
            self.findings.append(str(e))
        if not self.findings:
            shutil.rmtree(self.directory)
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="where Hearth was built (default: build)")
    parser.add_argument("--llvm", default="22", help="release whose clang compiles (default: 22)")
    parser.add_argument("--programs", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the others follow (default: 1)")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this one; can be repeated")
    parser.add_argument("--in-turn", action="store_true", help="each program in one mode only, all modes in turn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (default: one a processor)")
    parser.add_argument("--seconds", type=int, default=120, help="that a command may take (default: 120)")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    modes = options.mode or list(MODES)
    trials = [Trial(options, seed, mode) for seed in range(options.seed, options.seed + options.programs)
              for mode in ([modes[seed % len(modes)]] if options.in_turn else modes)]
    findings, right, cold = 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for trial in pool.map(Trial.check, trials):
            right, cold = right + trial.placed["cold"][1], cold + sum(trial.placed["cold"])
            findings += len(trial.findings)
            for finding in trial.findings:
                print(f"--seed={trial.seed} --programs=1 --mode={trial.mode}: {finding}", flush=True)
    print(f"{len(trials)} builds of programs, {right} of {cold} cold blocks among the cold ones, {findings} findings")
    return findings > 0 or right == 0


if __name__ == "__main__":
    sys.exit(main())
