#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every pass of Hearth over modules in IR, with allocations and a profile that matches them.

Each module that opt takes gets allocation calls at random places, debug locations, and a profile whose contexts lead through
these calls and the module's own ones. Then it goes through the passes by name, and through whole pipelines that instrument it or
use the profile, up to machine code. What fails: a crash, an error, a command that takes too long, unless the module does so
without Hearth, too; if valgrind is there, also unless LLVM alone misuses memory. Exit status 1 after findings, which stay in DIR/fuzz/modules."""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading

TARGET = 'target triple = "x86_64-unknown-linux-gnu"\n'
LAYOUT = 'target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"\n'
ALLOCATIONS = {"malloc": ("ptr", "i64 100"), "calloc": ("ptr", "i64 4, i64 25"), "realloc": ("ptr", "ptr null, i64 100"),
               "aligned_alloc": ("ptr", "i64 64, i64 128"), "strdup": ("ptr", "ptr @hearth.text"), "_Znwm": ("ptr", "i64 100"),
               "_ZnamRKSt9nothrow_t": ("ptr", "i64 100, ptr @hearth.text"), "posix_memalign": ("i32", "ptr @hearth.room, i64 64, i64 128")}
OWN = ('\n@hearth.text = private constant [2 x i8] c"a\\00"\n@hearth.room = internal global ptr null\n'
       "define internal ptr @hearth.make(i64 %n) {\n  %p = call ptr @malloc(i64 %n)\n  ret ptr %p\n}\n"
       "define internal ptr @hearth.outer(i64 %n) noinline {\n  %p = tail call ptr @hearth.make(i64 %n)\n  ret ptr %p\n}\n")
NAMED = ("hearth-annotate", "hearth-verify", "verify", "hearth-prune", "hearth-verify", "verify", "hearth-unify", "hearth-verify",
         "hearth-lower", "hearth-verify", "verify")


def inject(text, rng):
    """The module, as opt prints it, with allocation calls before some of its terminators; None if it has other functions of
    these names, or its functions in an address space where TARGET has none."""
    if re.search(r'^target datalayout = "(|.*-)P[1-9]', text, re.M):
        return None
    for name, (result, arguments) in ALLOCATIONS.items():
        types = ", ".join(a.split()[0] for a in arguments.split(", "))
        own = re.search(rf"^(declare|define)[^@]* (\S+) @{name}\(([^)]*)\)", text, re.M)
        if own and (own[1] == "define" or own[2] != result or not re.fullmatch(types.replace(",", "[^,]*,") + "[^,]*", own[3])):
            return None
        if not own:
            text += f"\ndeclare {result} @{name}({types})\n"
    lines, number, is_inside = [], 0, False
    for line in text.split("\n"):
        is_inside = line.startswith("define ") or is_inside and line != "}"
        last = lines[-1] if lines else ""
        if is_inside and re.match(r"  (ret|br|switch|unreachable|resume) ?", line) and "musttail" not in last and "@llvm." not in last:
            while rng.random() < 0.6:
                made = rng.choice(list(ALLOCATIONS) + ["hearth.make", "hearth.outer"] * 4)
                result, arguments = ALLOCATIONS.get(made, ("ptr", "i64 100"))
                lines.append(f"  %hearth.{number} = {rng.choice(('', 'tail '))}call {result} @{made}({arguments})")
                if result == "ptr" and rng.random() < 0.7:
                    lines.append(f"  store volatile ptr %hearth.{number}, ptr @hearth.room")
                number += 1
        lines.append(line)
    text = "\n".join(lines) + OWN
    return (LAYOUT if "\ntarget datalayout" not in text else "") + (TARGET if "\ntarget triple" not in text else "") + text


def find_calls(text):
    """[(place, callee or None)], a place being (function, line of its start, line offset, column), of a module in textual form."""
    programs, locations, calls, function = {}, {}, [], None
    for m in re.finditer(r'^!(\d+) = distinct !DISubprogram\(.*?linkageName: "([^"\\]+)".*? line: (\d+)', text, re.M):
        programs[m[1]] = (m[2], int(m[3]))
    for m in re.finditer(r"^!(\d+) = !DILocation\(line: (\d+), column: (\d+), scope: !(\d+)\)", text, re.M):
        locations[m[1]] = (int(m[2]), int(m[3]), m[4])
    for line in text.split("\n"):
        if line.startswith("define "):
            function = re.search(r"!dbg !(\d+)", line)
        m = re.match(r"  .*\b(?:call|invoke)\b.*?(?:@([\w.$]+)|%[\w.]+)\(.*!dbg !(\d+)", line)
        if m and function and function[1] in programs and m[2] in locations and locations[m[2]][2] == function[1]:
            name, start = programs[function[1]]
            at, column, _ = locations[m[2]]
            calls.append(((name, start, at - start, column), m[1]))
    return calls


def write_profile(calls, file, rng):
    """Contexts of allocation calls and of calls through pointers, of all temperatures, up to a root outside the module. None if
    there are no such calls."""
    callers = {}
    for place, callee in calls:
        callers.setdefault(callee, []).append(place)
    lines = ["hearth-profile-text 1", "run duration_ns=4000000000"]
    leaves = [place for place, callee in calls if callee is None or callee in ALLOCATIONS]
    for leaf in leaves:
        for _ in range(rng.randrange(1, 6)):
            frames = [leaf]
            while len(frames) < 8:
                above = callers.get(frames[-1][0], []) + callers.get(None, [])[:2]
                if not above or rng.random() < 0.2:
                    break
                frames.append(rng.choice(above))
            frames.append(("root", 1, rng.randrange(20), 1))
            lines += ["context"] + [f'  frame "{f}" "{file}" {start} {offset} {column} 0' for f, start, offset, column in frames]
            lines += ["  AllocCount 100", f"  TotalSize {rng.choice((100, 4000, 90000))}", "  TotalLifetime 390000000000",
                      f"  TotalAccessCount {rng.choice((1, 1, 2, 5000, 90000000))}"]
    return "\n".join(lines) + "\n" if leaves else None


class Servers:
    """For each thread, a process of each tool that runs it again and again (fork_server.c)."""

    def __init__(self, options):
        self.library = os.path.join(options.build, "fuzz", "fork_server.so")
        self.seconds = options.seconds
        self.of_thread = threading.local()
        self.started = []
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fork_server.c")
        os.makedirs(os.path.dirname(self.library), exist_ok=True)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", self.library, "-ldl"], check=True)

    def server(self, tool):
        servers = self.of_thread.__dict__
        if tool not in servers:
            servers[tool] = subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             env={**os.environ, "LD_PRELOAD": self.library})
            self.started.append(servers[tool])
        return servers[tool]

    def end(self):
        for server in self.started:
            server.communicate()

    def run(self, command, directory):
        """The exit status, negative after a signal, and the messages."""
        server = self.server(command[0])
        request = "".join(word + "\0" for word in [directory, *command]).encode()
        server.stdin.write(struct.pack("II", len(request), self.seconds) + request)
        server.stdin.flush()
        status = os.waitstatus_to_exitcode(struct.unpack("i", server.stdout.read(4))[0])
        with open(os.path.join(directory, "messages"), encoding="utf-8", errors="replace") as f:
            return status, f.read()


class Trial:
    """One module."""

    def __init__(self, options, path):
        self.options, self.path = options, path
        name = os.path.relpath(path, options.root).replace("/", "-")
        self.directory = os.path.join(options.build, "fuzz", "modules", name.removesuffix(".ll"))
        self.rng = random.Random(f"{options.seed}-{name}")
        self.findings, self.runs, self.is_taken = [], 0, False

    def tool(self, name):
        return f"/usr/lib/llvm-{self.options.llvm}/bin/{name}"

    def run(self, command):
        """What was wrong, or None."""
        if command[0].startswith(self.tool("")):
            status, error = self.options.servers.run(command, self.directory)
        else:
            result = subprocess.run(["timeout", "-s", "ALRM", str(self.options.seconds), *command], cwd=self.directory, check=False,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            status, error = result.returncode, result.stderr.decode(errors="replace")
        if status in (-signal.SIGALRM, 124):
            return f"takes more than {self.options.seconds} seconds"
        return f"exit status {status}: {error[:600]}" if status else None

    def run_plain(self, command):
        """As run, without Hearth. What LLVM does with memory that is not its own ends in a crash by chance only."""
        valgrind = [shutil.which("valgrind"), "-q", "--error-exitcode=1"] if shutil.which("valgrind") else []
        return self.run(command) or self.run(valgrind + command)

    def opt(self, passes, source, to, *ours):
        """Are there results? Without them it is a finding if plain opt has some."""
        plugin = os.path.join(self.options.build, "lib", "hearth.so")
        verifier = os.path.join(self.options.build, "lib", "hearth_verify.so")
        command = [self.tool("opt"), f"-load={plugin}", f"-load-pass-plugin={plugin}",
                   f"-load-pass-plugin={verifier}", f"-passes={passes}", *ours, source, "-o", to]
        self.runs += 1
        wrong = self.run(command)
        if wrong:
            theirs = ",".join(p for p in passes.split(",") if not p.startswith("hearth-"))
            if not self.run_plain([self.tool("opt"), f"-passes={theirs}", source, "-o", to + ".plain"]):
                self.findings.append(f"{shlex.join(command)}: {wrong}")
        return wrong is None

    def generate(self, source, level):
        """Machine code, if there is some of the module as LLVM alone optimises it."""
        self.runs += 1
        command = [self.tool("llc"), "-filetype=obj", "-o", os.devnull, source]
        wrong = self.run(command)
        if wrong and not self.run([self.tool("opt"), f"-passes=default<{level}>", "in.ll", "-o", "plain.bc"]) and \
                not self.run_plain(command[:-1] + ["plain.bc"]):
            self.findings.append(f"{shlex.join(command)}: {wrong}")

    def prepare(self):
        """in.ll and its profile. False if opt does not take the module, or nothing allocates in it."""
        printed = os.path.join(self.directory, "printed.ll")
        if self.run([self.tool("opt"), "-S", "-strip-debug", "-passes=verify", self.path, "-o", printed]):
            return False
        with open(printed, encoding="utf-8", errors="surrogateescape") as f:
            text = inject(f.read(), self.rng)
        if text is None:
            return False
        with open(printed, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        if self.run([self.tool("opt"), "-S", "-passes=debugify", "printed.ll", "-o", "in.ll"]):
            return False
        with open(os.path.join(self.directory, "in.ll"), encoding="utf-8", errors="surrogateescape") as f:
            profile = write_profile(find_calls(f.read()), "printed.ll", self.rng)
        if profile is None:
            return False
        with open(os.path.join(self.directory, "profile.txt"), "w", encoding="utf-8") as f:
            f.write(profile)
        layout = self.rng.choice(("one", "calls"))
        wrong = self.run([os.path.join(self.options.build, "bin", "hearth"), "index", "-q", f"--layout={layout}", "profile.txt", "-o", "heap"])
        if wrong:
            self.findings.append(f"index: {wrong}")
        return not wrong

    def check(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        self.is_taken = self.prepare()
        if self.is_taken:
            level = self.rng.choice(("O1", "O2", "O3", "Os"))
            use = ["-memprof-use=heap"] + self.rng.choice(([], [], ["-memprof-contexts-by=inline,word"],
                                                           ["-memprof-classify=auto"], ["-memprof-contexts=full"]))
            count = self.rng.choice(([], [], ["-memprof-atomic"], ["-memprof-histogram"],
                                     ["-memprof-coalesce=granule"], ["-memprof-coalesce=off"]))
            self.opt(",".join(NAMED), "in.ll", "named.bc", *use)
            self.opt("hearth-types,hearth-instrument,verify", "in.ll", "counted.bc", *count)
            if self.opt(f"default<{level}>,hearth-verify,verify", "in.ll", "used.bc", *use):
                self.generate("used.bc", level)
            if self.opt(f"default<{level}>,verify", "in.ll", "instrumented.bc", "-memprof-instrument", *count):
                self.generate("instrumented.bc", level)
            kind = self.rng.choice(("lto", "thinlto"))
            if self.opt(f"{kind}-pre-link<{level}>,hearth-verify,verify", "in.ll", "compiled.bc", *use, "-memprof-lto-phase=prelink"):
                self.opt(f"{kind}<{level}>,hearth-verify,verify", "compiled.bc", "linked.bc", "-memprof-lto-phase=postlink")
        if not self.findings:
            shutil.rmtree(self.directory)
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="where Hearth was built (default: build)")
    parser.add_argument("--llvm", default="22", help="release whose tools run (default: 22)")
    parser.add_argument("--files", type=int, help="only so many, drawn at random (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn and injected (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (default: one a processor)")
    parser.add_argument("--seconds", type=int, default=120, help="that a command may take (default: 120)")
    parser.add_argument("root", help="folder with .ll files, or one of them")
    options = parser.parse_args()
    options.build, options.root = os.path.abspath(options.build), os.path.abspath(options.root)
    options.servers = Servers(options)
    paths = [options.root]
    if os.path.isdir(options.root):
        paths = sorted(os.path.join(folder, n) for folder, _, names in os.walk(options.root) for n in names if n.endswith(".ll"))
    else:
        options.root = os.path.dirname(options.root)
    if options.files and options.files < len(paths):
        paths = random.Random(options.seed).sample(paths, options.files)
    taken = runs = findings = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for trial in pool.map(Trial.check, [Trial(options, path) for path in paths]):
            taken, runs, findings = taken + trial.is_taken, runs + trial.runs, findings + len(trial.findings)
            for finding in trial.findings:
                print(f"{trial.directory}: {finding}", flush=True)
    options.servers.end()
    print(f"{runs} runs on {taken} of {len(paths)} modules, {findings} findings")
    return findings > 0 or taken == 0


if __name__ == "__main__":
    sys.exit(main())
