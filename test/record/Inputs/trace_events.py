# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chrome's JSON trace files, as "Trace Event Format" (the document of trace_event's authors) describes them: the object that
holds the events, what every event has, and what those of a phase have. Perfetto's and Chrome's viewers read no other.

read(FILE) gives the events, or ends with an AssertionError that names the event.
"""
import json

NUMBER = (int, float)
OBJECT = {"traceEvents": list, "displayTimeUnit": str, "systemTraceEvents": str, "otherData": dict, "stackFrames": dict,
          "samples": list}
EVERY = {"name": str, "cat": str, "ph": str, "ts": NUMBER, "pid": int, "tid": int, "args": dict}  # all are there
OPTIONAL = {"tts": NUMBER, "cname": str}
METADATA = {"process_name": ("name", str), "process_labels": ("labels", str), "process_sort_index": ("sort_index", int),
            "thread_name": ("name", str), "thread_sort_index": ("sort_index", int)}


def is_metadata(event):
    key, kind = METADATA[event["name"]]
    return isinstance(event["args"][key], kind)


def is_counter(event):
    values = event["args"].values()
    return len(values) > 0 and all(isinstance(value, NUMBER) and not isinstance(value, bool) for value in values)


# By phase: its own keys, which are there, and what holds for it.
PHASES = {
    "M": ({}, is_metadata),
    "C": ({}, is_counter),
    "i": ({"s": str}, lambda event: event["s"] in ("g", "p", "t")),
    "v": ({"id": str}, lambda event: int(event["id"], 16) >= 0 and isinstance(event["args"]["dumps"], dict)),
}


def has_types(values, types):
    return all(isinstance(value, types[key]) for key, value in values.items())


def unique(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def read(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, object_pairs_hook=unique)
    assert set(trace) <= set(OBJECT) and has_types(trace, OBJECT) and trace["traceEvents"], set(trace)
    for event in trace["traceEvents"]:
        own, holds = PHASES[event["ph"]]
        assert set(EVERY) | set(own) <= set(event) <= set(EVERY) | set(own) | set(OPTIONAL), event
        assert has_types(event, {**EVERY, **OPTIONAL, **own}), event
        assert event["ts"] >= 0 and event["name"] and event["cat"] and holds(event), event
    return trace["traceEvents"]
