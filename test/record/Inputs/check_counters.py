#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check Chrome trace JSON with counters against the format's description, and that the parts of each moment are the whole.

usage: check_counters.py FILE     prints each function with its greatest and last value, and the share of the run at the peak
"""
import sys

import trace_events

series, last, peak = {}, {"live bytes": -1.0, "live bytes by function": -1.0}, None
for event in trace_events.read(sys.argv[1]):
    if event["ph"] == "M":
        assert event["name"] == "process_name" and event["args"]["name"]
    elif event["ph"] == "i":
        assert event["s"] == "p" and peak is None
        peak = event["ts"]
    else:
        assert event["ph"] == "C" and event["ts"] > last[event["name"]], event
        last[event["name"]] = event["ts"]
        if event["name"] == "live bytes":
            whole = event["args"]["all"]
        else:
            parts = sum(event["args"].values())
            assert abs(parts - whole) <= whole / 100 + 100, (parts, whole)
        for name, value in event["args"].items():
            series.setdefault(name, []).append(value)
assert len({len(values) for values in series.values()}) == 1
for name, values in series.items():
    print(name, max(values), "then", values[-1])
print("peak at", "a third" if 0.33 < peak / last["live bytes"] < 0.34 else peak / last["live bytes"])
