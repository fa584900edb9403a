# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suites: one folder per part, one file per behaviour, holding program, RUN and CHECK lines together.

Substitutions: %opt loads the plugin, %opt_plain does not; %clang and %clangxx are plain compilers; the rest is listed
below. Features: llvm22 (the release under test; 14 to 19 likewise), chained, alone or beside (its form of contexts, see
below), views, traces, fleet (the modules of this build), lto-plugin, and what the machine has (jemalloc, valgrind,
ccache, meson; go, node and dh_view, which read exported profiles; chromium, which opens reports; ninja, parallel, sshd
and slurm, which merge profiles of a fleet)."""
import glob
import os
import platform
import shutil
import subprocess
import sys
import sysconfig

import lit.formats

config.name = "hearth"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".ll", ".c", ".cpp", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "bench", "golden", "tools"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.hearth_build, "test")

build, llvm = config.hearth_build, config.llvm_major
plugin = os.path.join(build, "lib", "hearth.so")
verifier = os.path.join(build, "lib", "hearth_verify.so") # the pass hearth-verify
# opt 14 and 15 parse its command line before they load pass plugins; -load is early enough to make our options known.
early = f"-load {plugin} " if int(llvm) < 16 else ""
# clang before 22 likewise, with -fplugin.
clang_plugin = ("" if llvm == "22" else f"-fplugin={plugin} ") + f"-fpass-plugin={plugin}"
# Opaque pointers are what every current release has; 14 must be told.
opaque = "-opaque-pointers " if llvm == "14" else ""
# Contexts in metadata: chained under !memprof, chained alone under !memprof.mib, or flat lists beside these.
lists = "CHAINED" if int(llvm) < 15 else "ALONE" if int(llvm) < 19 else "BESIDE"

def tool(name):
    paths = [os.path.join(directory, name) for directory in config.llvm_bin]
    return next(filter(os.path.exists, paths), name)

config.substitutions += [
    ("%opt_plain", f"{tool('opt')} {opaque}"),
    ("%opt", f"{tool('opt')} {opaque}{early}-load-pass-plugin={plugin} -load-pass-plugin={verifier}"),
    # For IR as clang makes it: typed pointers on 14, whose optimiser is not sound on opaque ones yet.
    ("%native_opt_plain", tool("opt")),
    ("%native_opt", f"{tool('opt')} {early}-load-pass-plugin={plugin} -load-pass-plugin={verifier}"),
    ("%llvm_path", os.pathsep.join(config.llvm_bin)), # for scripts that run tools by their plain names
    ("%llvm_as", tool("llvm-as")),
    ("%llvm_link", f"{tool('llvm-link')} {opaque}"),
    ("%plugin", plugin),
    ("%clang_plugin", clang_plugin),
    ("%clangxx", tool("clang++")),
    ("%clang", tool("clang")),
    ("%profdata", tool("llvm-profdata")),
    # What the symboliser is compared with: LLVM 22's tools, whatever release is under test.
    ("%symbolizer_22", "/usr/lib/llvm-22/bin/llvm-symbolizer"),
    ("%symbolizer", tool("llvm-symbolizer")),
    ("%symbolise", os.path.join(build, "bin", "symbolise")),
    ("%verify", os.path.join(build, "bin", "verify_placements")),
    ("%given_time", " ".join(["-I%tools", os.path.join(build, "lib", "libgiven_time.a")] +
                             [f"-Wl,--wrap=hearth_os_{name}" for name in ("has_ticks", "sleep", "begin_thread")])),
    ("%tools", os.path.join(config.test_source_root, "tools")), # headers of programs
    ("%run_clock", f"LD_PRELOAD={build}/lib/librun_clock.so"),
    ("%hint_scopes", os.path.join(build, "lib", "libhint_scopes.so")),
    ("%replay", os.path.join(build, "bin", "replay")),
    ("%trace_stat", os.path.join(build, "bin", "trace_stat")),
    ("%nm", tool("llvm-nm")),
    ("%objcopy", tool("llvm-objcopy")),
    ("%dwarfdump", tool("llvm-dwarfdump")),
    ("%hearth", os.path.join(build, "bin", "hearth")),
    ("%fields", os.path.join(config.hearth_source, "profile", "format", "hearth", "mib_fields.def")),
    ("%preload", os.path.join(build, "lib", "libhearth_preload.so")),
    ("%fleet", os.path.join(config.hearth_source, "examples", "fleet")),
    ("%malloc_source", os.path.join(config.hearth_source, "runtime", "malloc")),
    ("%malloc_checked", os.path.join(build, "lib", "libhearth_malloc_checked.so")),
    ("%malloc_a", os.path.join(build, "lib", "libhearth_malloc.a")),
    ("%malloc", os.path.join(build, "lib", "libhearth_malloc.so")),
    ("%rt", os.path.join(build, "lib", "libhearth_rt.a")),
    ("%format", os.path.join(config.hearth_source, "profile", "format")),
    ("%include", os.path.join(config.hearth_source, "runtime", "include")),
    ("%platform", os.path.join(config.hearth_source, "cmake", "platform.cmake")),
    ("%build", build),
    # Of metadata, as check prefixes: the encoding, and whether flat lists stand beside the chained ones.
    ("%encodings", {"CHAINED": "CHAINED", "BESIDE": "FLAT,BESIDE", "ALONE": "FLAT,ALONE"}[lists]),
    ("%encoding", "CHAINED" if lists == "CHAINED" else "FLAT"),
    ("%llvm", llvm),
]
config.available_features |= {f"llvm{llvm}", lists.lower()}
config.available_features |= {name for name, on in config.modules.items() if on in ("ON", "1", "TRUE")}
if int(llvm) >= 19:
    config.available_features.add("lto-plugin") # links take it
for feature in ("valgrind", "go", "node", "chromium", "ccache", "meson", "ninja", "parallel", "debuginfod", "bazel"):
    if shutil.which(feature):
        config.available_features.add(feature)
if "bazel" in config.available_features and not os.path.exists("/usr/share/bazel/rules/java"):
    config.available_features.remove("bazel") # it would fetch its rules
if all(shutil.which(program) for program in ("slurmctld", "slurmd", "munged")) and os.geteuid() == 0:
    config.available_features.add("slurm") # its daemons run in the test
if all(shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for program in ("sshd", "ssh", "ssh-keygen")):
    config.available_features.add("sshd") # one of its own for each test
for compiler in ("g++-12", "clang++-14", "clang++-19", "clang++-22"):
    if shutil.which(compiler):
        config.available_features.add(compiler)
if glob.glob(f"/usr/lib/llvm-{llvm}/lib/clang/*/lib/linux/libclang_rt.tsan-*.a"):
    config.available_features.add("tsan")
if all(shutil.which(program) for program in ("autoreconf", "automake", "libtoolize", "make")):
    config.available_features.add("autotools")
if all(shutil.which(program) for program in ("dpkg-deb", "dpkg-shlibdeps", "cpack", "file", "pkg-config")):
    config.available_features.add("debian")
if os.geteuid() == 0:
    config.available_features.add("root")
yama = "/proc/sys/kernel/yama/ptrace_scope"
if platform.machine() == "x86_64":
    config.available_features.add("x86_64")
if platform.machine() == "x86_64" and (os.geteuid() == 0 or not os.path.exists(yama) or open(yama).read() == "0\n"):
    config.available_features.add("attach") # to a program that runs
if platform.machine() != "x86_64" or "nonstop_tsc" in open("/proc/cpuinfo").read().split():
    config.available_features.add("ticks") # that go on at one rate
if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
    config.available_features.add("mount-namespace")
if os.path.exists(tool("ld.lld")):
    config.available_features.add("lld")
if os.path.exists("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"):
    config.available_features.add("jemalloc")
if os.path.exists("/usr/include/glib-2.0/glib.h"):
    config.available_features.add("glib")
python_include = sysconfig.get_paths()["include"]
config.substitutions[:0] = [("%python_include", python_include), ("%python", sys.executable)]
if os.path.exists(os.path.join(python_include, "Python.h")):
    config.available_features.add("python")
dh_view = "/usr/libexec/valgrind/dh_view.js"
config.substitutions.append(("%dh_view", dh_view))
if os.path.exists(dh_view):
    config.available_features.add("dh_view")
# FileCheck, not and split-file.
config.environment["PATH"] = os.pathsep.join([os.path.dirname(config.filecheck), os.environ["PATH"]])
