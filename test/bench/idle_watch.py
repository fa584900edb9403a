#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""idle_watch.py MODE SECONDS RESULT COMMAND...: runs the command for idle.sh, and looks at its memory.

watch     only that
looks     every SECONDS: which pages of cold memory (the mapping of the file of cold_lives.c) were touched since the last look? All
          are then sent out of the process, so that a page that is there again was touched. After the last look, nothing is known.
          A block was used in the last half of its life if its pages were touched between two looks of that half. What is touched
          between the same two looks as its end belongs to its end.
reclaim   every SECONDS: what needs no profile. The limit of a control group is lowered and lifted again, by which the system
          takes what was not used of late; by a twentieth, unless more than a thousandth of the pages came back since the last
          time (Meta's TMO goes by the time that is lost so).
RESULT gets: seconds; peak and mean MiB in memory (by processor time), the file's in the system's cache included; most MiB of
cold blocks at once; per cent of the bytes of all that were left alone in the last halves of their lives; most MiB swapped
out; pages read from a disk; MiB of cold blocks that lived too short to tell. Only the command's own process counts."""
import array, bisect, ctypes, itertools, os, struct, subprocess, sys, time

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
        self.touched, self.look_times, self.other_files = {}, [time.monotonic_ns()], None

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
        for start, end in cold_maps(self.pid):
            for page in pages_in(self.pid, start, end):
                self.touched.setdefault(page - start // PAGE, []).append(len(self.look_times))
            vector = (ctypes.c_uint64 * 2)(start, end - start)
            libc.syscall(PIDFD_MADVISE, self.pidfd, vector, ctypes.c_size_t(1), MADV_PAGEOUT, 0)
        self.look_times.append(time.monotonic_ns())

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

    def last_halves(self, lives):
        """Most bytes of blocks at once; bytes that were left alone in them, that were used, and that lived too short."""
        idle = used = short = 0
        changes = []
        while True:
            begin, size, birth, death = struct.unpack("QQQQ", lives.read(32))
            if birth == 0:
                changes.sort()
                return max(itertools.accumulate((size for _, size in changes), initial=0)), idle, used, short
            changes += ((birth, size), (death, -size)) if death else ((birth, size),)
            half = birth + ((death or self.look_times[-1]) - birth) // 2
            # look i tells of the time since look i - 1
            first = bisect.bisect_left(self.look_times, half) + 1
            end = bisect.bisect_left(self.look_times, death) if death else len(self.look_times)
            if first >= end:
                short += size
                continue
            pages = range(begin // PAGE, (begin + max(size, 1) - 1) // PAGE + 1)
            touched = sum(any(first <= look < end for look in self.touched.get(page, ())) for page in pages)
            used += size * touched / len(pages)
            idle += size - size * touched / len(pages)


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
    mib, most, idle, used, short = 1 << 20, 0, 0, 0, 0
    lives = f"{os.environ.get('HEARTH_COLD_LIVES')}/lives"
    if mode == "looks" and os.path.exists(lives):
        with open(lives, "rb") as file:
            most, idle, used, short = watch.last_halves(file)
    with open(result, "w") as out:
        print(f"{time.monotonic() - start:.2f} {watch.peak / mib:.1f} {watch.sum / max(watch.ticks, 1) / mib:.1f} "
              f"{most / mib:.1f} {100 * idle / ((idle + used) or 1):.1f} {watch.swapped / mib:.1f} "
              f"{watch.faults} {short / mib:.1f}", file=out)
    return child.returncode


sys.exit(main())
