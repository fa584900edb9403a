#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""idle_watch.py MODE SECONDS RESULT COMMAND...: runs the command for idle.sh, and looks at its memory.

watch     only that
looks     every SECONDS: which pages of cold memory (the mapping of the file of cold=file) were touched since the last look? All
          are then sent out of the process, so that a page that is there again was touched. After the last look, nothing is known.
reclaim   every SECONDS: what needs no profile. The limit of a control group is lowered and lifted again, by which the system
          takes what was not used of late; by a twentieth, unless more than a thousandth of the pages came back since the last
          time (Meta's TMO goes by the time that is lost so).
RESULT gets: seconds; peak and mean MiB in memory (by processor time), the file's in the system's cache included; MiB of cold memory that was touched,
of which so many per cent were left alone in the last half of the looks since their first one; most MiB swapped out; pages read
from a disk. Only the command's own process counts."""
import array, ctypes, os, subprocess, sys, time

PAGE = 4096
MADV_PAGEOUT, PIDFD_MADVISE, CACHESTAT = 21, 440, 451
GROUP = "/sys/fs/cgroup/memory/hearth-idle"
libc = ctypes.CDLL(None, use_errno=True)


def cold_maps(pid):
    """(start, end) of each mapping of the file."""
    with open(f"/proc/{pid}/maps") as maps:
        return [tuple(int(x, 16) for x in line.split()[0].split("-")) for line in maps if "/hearth-cold-" in line]


def pages_in(pid, start, end):
    """Numbers of the pages that the process has mapped."""
    with open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        pagemap.seek(start // PAGE * 8)
        entries = array.array("Q", pagemap.read((end - start) // PAGE * 8))
    return [start // PAGE + i for i, entry in enumerate(entries) if entry >> 63]


def cached_bytes(pid):
    """Of the file."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "/hearth-cold-" not in os.readlink(f"/proc/{pid}/fd/{name}"):
                continue
            file = os.open(f"/proc/{pid}/fd/{name}", os.O_RDONLY)
        except OSError:
            continue
        span, counts = (ctypes.c_uint64 * 2)(), (ctypes.c_uint64 * 5)()
        libc.syscall(CACHESTAT, file, span, counts, 0)
        os.close(file)
        return counts[0] * PAGE
    return 0


class Watch:
    def __init__(self, pid):
        self.pid, self.pidfd = pid, os.pidfd_open(pid)
        self.peak = self.sum = self.ticks = self.last = self.swapped = self.faults = self.faults_before = 0
        self.first, self.touched, self.look_number, self.other_files = {}, {}, 0, None

    def sample(self):
        with open(f"/proc/{self.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        anonymous, files, swapped = (int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile", "VmSwap"))
        if self.other_files is None:
            self.other_files = files
        self.last = anonymous + max(files, self.other_files + cached_bytes(self.pid))
        self.swapped = max(self.swapped, swapped)
        with open(f"/proc/{self.pid}/stat") as stat:
            values = stat.read().rsplit(")", 1)[1].split()
        self.faults, ticks = int(values[9]), int(values[11]) + int(values[12])
        self.peak = max(self.peak, self.last)
        self.sum, self.ticks = self.sum + self.last * (ticks - self.ticks), ticks

    def looks(self):
        self.look_number += 1
        for start, end in cold_maps(self.pid):
            for page in pages_in(self.pid, start, end):
                self.first.setdefault(page, self.look_number)
                self.touched[page] = self.look_number
            vector = (ctypes.c_uint64 * 2)(start, end - start)
            libc.syscall(PIDFD_MADVISE, self.pidfd, vector, ctypes.c_size_t(1), MADV_PAGEOUT, 0)

    def reclaim(self):
        if self.faults - self.faults_before < self.last // PAGE // 1000:
            with open(f"{GROUP}/memory.usage_in_bytes") as usage:
                used = int(usage.read())
            for limit in (used - used // 20, -1):
                try:
                    with open(f"{GROUP}/memory.limit_in_bytes", "w") as file:
                        file.write(str(limit))
                except OSError:  # nothing is idle
                    pass
        self.faults_before = self.faults

    def idle_percent(self):
        idle = sum(2 * self.touched[page] <= first + self.look_number for page, first in self.first.items())
        return 100 * idle / len(self.first) if self.first else 100


def main():
    mode, seconds, result, command = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4:]
    if mode == "reclaim":
        os.makedirs(GROUP, exist_ok=True)
        with open(f"{GROUP}/tasks", "w") as tasks:  # the child inherits it
            tasks.write(str(os.getpid()))
    child = subprocess.Popen(command)
    if mode == "reclaim":
        with open("/sys/fs/cgroup/memory/tasks", "w") as tasks:
            tasks.write(str(os.getpid()))
    start = time.monotonic()
    watch, next_look = Watch(child.pid), start + seconds
    while child.poll() is None:
        try:
            watch.sample()
            if mode != "watch" and time.monotonic() >= next_look:
                getattr(watch, mode)()
                next_look += seconds
        except (OSError, KeyError):  # it has just ended
            pass
        time.sleep(0.02)
    mib = 1 << 20
    with open(result, "w") as out:
        print(f"{time.monotonic() - start:.2f} {watch.peak / mib:.1f} {watch.sum / max(watch.ticks, 1) / mib:.1f} "
              f"{len(watch.first) * PAGE / mib:.1f} {watch.idle_percent():.1f} {watch.swapped / mib:.1f} {watch.faults}",
              file=out)
    return child.returncode


sys.exit(main())
