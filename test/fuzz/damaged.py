#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages files of every kind that Hearth reads, and has every command that reads them read them.

What fails: a signal, a command that takes too long, an exit status that the command does not document, an error without a
message or a message without an error, an output file after an error. Beyond the fuzz targets this tries the whole commands,
the compiler plugin included. Exit status 1 after findings; a finding's file stays in DIR/damaged."""
import argparse
import os
import random
import shutil
import subprocess
import sys

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; char text[40]; };
static char *cold[100];
__attribute__((noinline)) static void *helper(size_t n) { return malloc(n); }
__attribute__((noinline)) static struct node *make(struct node *next) { struct node *n = helper(sizeof *n); n->next = next; return n; }
int main(void) {
  struct node *list = NULL;
  for (int i = 0; i < 100; i++) { cold[i] = helper(100); list = make(list); free(calloc(i + 1, 3)); }
  for (int r = 0; r < 1000; r++) for (struct node *n = list; n; n = n->next) n->text[r % 40]++;
  usleep(20000);
}
"""


def run(command, **kwargs):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)


def must(command, **kwargs):
    result = run(command, **kwargs)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {result.returncode}\n{result.stderr.decode(errors='replace')}")
    return result.stdout


def damage(data, rng):
    """One of the things that happen to files, at a random place."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if not data:
            break
        at, size = rng.randrange(len(data)), rng.choice((1, 2, 4, 8, 64, 4096))
        kind = rng.randrange(7)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data[at:at + size] = rng.choice((b"\0", b"\xff", b"\x80", b"\x7f")) * len(data[at:at + size])
        elif kind == 3:
            del data[at:at + size]
        elif kind == 4:
            data[at:at] = data[at:at + size]
        elif kind == 5:
            data[at:at + size] = bytes(rng.randrange(256) for _ in data[at:at + size])
        else:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1))
            data[at:at + 8] = number.to_bytes(8, "little")[:len(data[at:at + 8])]
    return bytes(data)


class Trial:
    def __init__(self, build, directory, release):
        self.build, self.directory, self.release = build, directory, release
        self.refused = 0
        self.hearth = os.path.join(build, "bin", "hearth")
        self.golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")

    def path(self, name):
        return os.path.join(self.directory, name)

    def make_inputs(self):
        """{kind: (intact bytes, commands)}; in commands IN is the damaged file, OUT what may be written."""
        clang = f"clang-{self.release}"
        with open(self.path("app.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        flags = must([self.hearth, "flags", "instrument"]).decode().split()
        app, raw, heap, text = self.path("app"), self.path("raw"), self.path("heap"), self.path("text")
        must([clang, "-O2", self.path("app.c"), *flags, "-o", app])
        must([app], env={**os.environ, "HEARTH_OPTIONS": f"log_path={raw}"})
        (raw,) = [self.path(n) for n in os.listdir(self.directory) if n.startswith("raw")]
        must([self.hearth, "index", "-q", raw, "--binary", app, "-o", heap])
        with open(text, "wb") as f:
            f.write(must([self.hearth, "show", "--text", heap]))
        must([self.hearth, "index", "-q", heap, "--format=llvm", "-o", self.path("llvm")])
        must([clang, "-g", "-O2", self.path("app.c"), "-o", self.path("plain")])
        must([self.hearth, "record", "-q", "--mode=trace", "-o", self.path("trace"), "--", self.path("plain")])
        must([self.hearth, "record", "-q", "--mode=live", "-o", self.path("dump"), "--", self.path("plain")])
        dump = sorted(n for n in os.listdir(self.directory) if n.startswith("dump"))[-1]
        must([clang, "-O2", "-g1", "-fdebug-info-for-profiling", "-c", "-emit-llvm", self.path("app.c"), "-o", self.path("app.bc")])
        h = self.hearth
        index = [[h, "index", "-q", "IN", "-o", "OUT"], [h, "merge", "-q", "IN", heap, "-o", "OUT"]]
        opt = f"/usr/lib/llvm-{self.release}/bin/opt"
        plugin = os.path.join(self.build, "lib", "hearth.so")
        early = [f"-load={plugin}"] if self.release == "14" else []
        compile_ = [opt, *early, f"-load-pass-plugin={plugin}", "-memprof-use=IN", "-passes=default<O2>", self.path("app.bc"), "-o", "OUT"]
        readers = [[h, "show", "IN"], [h, "show", "--json", "IN"], [h, "show", "--text", "IN"], [h, "show", "--plan", "IN"],
                   [h, "show", "--full", "IN"], [h, "diff", "IN", heap],
                   [h, "flags", "use", "IN"],
                   [h, "report", "IN", "-o", "OUT"], [h, "index", "-q", "IN", "--format=llvm", "-o", "OUT"], compile_]
        readers += [[h, "export", f"--format={f}", "IN", "-o", "OUT"] for f in ("folded", "pprof", "dhat")]
        with_binary = [[h, "index", "-q", "IN", "--binary", app, "-o", "OUT"], [h, "index", "-q", "--symbols", "IN", "-o", "OUT"]]
        of_binary = [[h, "index", "-q", raw, "--binary", "IN", "-o", "OUT"],
                     [h, "index", "-q", "--symbols", raw, "--binary", "IN", "-o", "OUT"]]
        traces = [[h, "trace", "IN"],
                  [h, "index", "-q", "IN", "-o", "OUT"], [h, "report", "IN", "-o", "OUT"]]
        heaps = [[h, "heap", "IN"], [h, "heap", "--format=chrome", "IN", "-o", "OUT"]]
        kinds = {"raw": (raw, with_binary), "indexed": (heap, index + readers), "text": (text, index),
                 "llvm": (self.path("llvm"), index), "binary": (app, of_binary), "trace": (self.path("trace"), traces),
                 "dump": (self.path(dump), heaps)}
        if self.release != "14":
            self.make_llvm_raw(clang)
            kinds["raw-llvm"] = (self.path("app-llvm.raw"), [[h, "index", "-q", "IN", "--binary", self.path("app-llvm"), "-o", "OUT"]])
        for name in ("v3", "both22"):
            kinds["profdata-" + name] = (os.path.join(self.golden, "llvm", name), index)
        inputs = {}
        for kind, (path, commands) in kinds.items():
            with open(path, "rb") as f:
                inputs[kind] = (f.read(), commands)
        return inputs

    def make_llvm_raw(self, clang):
        program = self.path("app-llvm")
        must([clang, "-O2", "-g1", "-fdebug-info-for-profiling", "-fmemory-profile", "-Wl,--build-id", self.path("app.c"), "-o", program])
        must([program], env={**os.environ, "MEMPROF_OPTIONS": f"log_path={program}.raw"})
        (raw,) = [n for n in os.listdir(self.directory) if n.startswith("app-llvm.raw.")]
        os.rename(self.path(raw), f"{program}.raw")

    def check(self, command, seconds, intact):
        """What is wrong with how the command took its input; None: nothing."""
        out = self.path("out")
        if os.path.exists(out):
            os.remove(out)
        command = [out if a == "OUT" else a.replace("IN", self.path("in")) if a in ("IN", "-memprof-use=IN") else a for a in command]
        try:
            result = run(command, timeout=seconds, cwd=self.directory)
        except subprocess.TimeoutExpired:
            return command, f"takes more than {seconds} seconds"
        said, status = b"error:" in result.stderr, result.returncode
        is_compiler = "opt" in os.path.basename(command[0])
        failed = 2 if len(command) > 1 and command[1] == "diff" else 1
        if status not in (0, failed) or (is_compiler and status != 0):
            return command, f"exit status {status}: {result.stderr[-300:]}"
        self.refused += status != 0 or (is_compiler and b"warning" in result.stderr)
        if intact and (status != 0 or (is_compiler and b"cannot" in result.stderr)):
            return command, f"refuses an intact file: {result.stderr[-300:]}"
        if not is_compiler and (status != 0) != said:
            return command, f"exit status {status}, and {result.stderr[-300:] or 'no message'}"
        if not is_compiler and status != 0 and os.path.exists(out):
            return command, f"exit status {status}, and an output file"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="where Hearth was built (default: build)")
    parser.add_argument("--files", type=int, default=20, help="damaged files of each kind (default: 20)")
    parser.add_argument("--kind", action="append", help="only this kind of file; can be repeated")
    parser.add_argument("--seed", type=int, default=1, help="of what is damaged how (default: 1)")
    parser.add_argument("--seconds", type=int, default=60, help="that a command may take (default: 60)")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    directory = os.path.join(build, "fuzz", "damaged")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        release = next(line.split("=")[1].strip() for line in cache if line.startswith("HEARTH_LLVM:"))
    trial = Trial(build, directory, release)
    findings = runs = 0
    for kind, (intact, commands) in trial.make_inputs().items():
        if options.kind and kind not in options.kind:
            continue
        rng = random.Random(f"{options.seed}-{kind}")
        for number in range(options.files + 1):
            with open(trial.path("in"), "wb") as f:
                f.write(damage(intact, rng) if number > 0 else intact)
            os.chmod(trial.path("in"), 0o755)
            for command in commands:
                runs += 1
                finding = trial.check(command, options.seconds, number == 0)
                if finding:
                    findings += 1
                    kept = trial.path(f"finding-{findings}-{kind}-{number}")
                    shutil.copy(trial.path("in"), kept)
                    print(f"{kept}: {' '.join(finding[0])}: {finding[1]}", flush=True)
    print(f"{runs} runs of commands on damaged files, {trial.refused} refused, {findings} findings")
    return findings > 0 or trial.refused == 0


if __name__ == "__main__":
    sys.exit(main())
