# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read an indexed profile: libhearth's C interface (hearth/profile.h) by ctypes. A shared library of it is made by

    cc -shared -o libhearth_profile.so -Wl,--whole-archive LIBDIR/libhearth_profile.a -Wl,--no-whole-archive -pthread -lm

    with Profile("app.heap", library="./libhearth_profile.so", headers="/usr/include") as profile:
        for context in profile.contexts():
            print(context.TotalSize, [str(frame) for frame in context.stack])
"""
import collections
import ctypes
import os
import re
from ctypes import Structure, byref, c_bool, c_char, c_char_p, c_int, c_uint32, c_uint64, c_void_p

NONE = 2**32 - 1


class Error(Exception):
    """The library's words."""


class ErrorDetail(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 512)]


class FunctionInfo(Structure):
    _fields_ = [("id", c_uint64), ("name", c_char_p), ("path", c_uint32), ("start_line", c_uint32),
                ("first_frame", c_uint32), ("frame_count", c_uint32)]


class FrameInfo(Structure):
    _fields_ = [("function", c_uint32), ("line", c_uint32), ("column", c_uint32), ("discriminator", c_uint32),
                ("inlined", c_bool), ("recursive", c_bool), ("library", c_bool), ("in_cycle", c_bool),
                ("stack_id", c_uint64), ("first_context", c_uint32), ("context_count", c_uint32)]


class Summary(Structure):
    _fields_ = [("runs", c_uint64), ("duration_ns", c_uint64), ("total_allocs", c_uint64), ("total_bytes", c_uint64),
                ("total_accesses", c_uint64), ("dropped_blocks", c_uint64), ("dropped_frames", c_uint64),
                ("accesses_counted", c_bool), ("accesses_estimated", c_bool),
                ("densities_only", c_bool), ("id_scheme", c_int)]


class Frame(collections.namedtuple("Frame", "function path line column inlined")):
    """A place in a function, whose name is the linker's; line 0 and an empty path are unknown."""
    def __str__(self):
        return self.function + (f" {os.path.basename(self.path)}:{self.line}" if self.path and self.line else "")


def numbers_of(headers):
    """The structure of a context's numbers, from the table that the C header is made of."""
    with open(os.path.join(headers, "hearth", "mib_fields.def"), encoding="utf-8") as table:
        names = re.findall(r"^HEARTH_MIB_FIELD\s*\(\s*\d+, (\w+)", table.read(), re.MULTILINE)
    return type("Numbers", (Structure,), {"_fields_": [(name, c_uint64) for name in names]})


class Profile:
    def __init__(self, path, library="libhearth_profile.so", headers="/usr/include"):
        self.lib = ctypes.CDLL(library)
        self.numbers = numbers_of(headers)
        self.handle = c_void_p()
        self.frames = {}
        self.lib.hearth_profile_close.argtypes = [c_void_p]
        for name in ("function", "frame", "context", "stack"):
            count = getattr(self.lib, f"hearth_profile_{name}_count")
            count.argtypes, count.restype = [c_void_p], c_uint32
        self.check("open", None, os.fsencode(path), byref(self.handle))

    def check(self, verb, handle, *arguments):
        """Call a function that returns a status."""
        error = ErrorDetail()
        call = getattr(self.lib, f"hearth_profile_{verb}")
        call.restype = c_int
        if call(*([handle] if handle else []), *arguments, byref(error)) != 0:
            raise Error(error.message.decode(errors="replace"))

    def get(self, verb, row, kind):
        result = kind()
        self.check(f"get_{verb}", self.handle, c_uint32(row), byref(result))
        return result

    def summary(self):
        result = Summary()
        self.check("get_summary", self.handle, byref(result))
        return result

    def frame(self, row):
        if row not in self.frames:
            info = self.get("frame", row, FrameInfo)
            function = self.get("function", info.function, FunctionInfo)
            path = ctypes.create_string_buffer(4096)
            self.check("get_path", self.handle, c_uint32(function.path), path, ctypes.c_size_t(len(path)))
            known = info.line != NONE and function.start_line
            self.frames[row] = Frame(function.name.decode(errors="replace"), os.fsdecode(path.value),
                                     function.start_line + info.line if known else 0, info.column, info.inlined)
        return self.frames[row]

    def stack(self, node):
        """Frames from the allocation call to the outermost caller."""
        frames = []
        while node != NONE:
            frame, parent = c_uint32(), c_uint32()
            self.check("get_stack", self.handle, c_uint32(node), byref(frame), byref(parent))
            frames.append(self.frame(frame.value))
            node = parent.value
        return frames

    def contexts(self):
        """Each call stack in which blocks were allocated: `stack`, and the fields of mib_fields.def as members."""
        for row in range(self.lib.hearth_profile_context_count(self.handle)):
            node, numbers = c_uint32(), self.numbers()
            self.check("get_context", self.handle, c_uint32(row), byref(node), byref(numbers))
            numbers.stack = self.stack(node.value)
            yield numbers

    def close(self):
        self.lib.hearth_profile_close(self.handle)
        self.handle = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
