#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent reader of traces, written from docs/FORMAT.md alone.

Prints what `synctally dump` prints. Slow and simple on purpose: where it and
trace/reader.c agree, the specification says what both do.

    read_trace.py TRACE
"""

import codecs
import struct
import sys

BLOCK = 65536
FILE_HEADER = struct.Struct("<QHHIIIQQQiiiIQQQII64s32s")
SEGMENT_HEADER = struct.Struct("<IIIIIIQQII16s")
HANDOVER = struct.Struct("<24x16sII16x")
DEFINITION_HEADER = struct.Struct("<HHIII")
EVENT = struct.Struct("<QQQIIIIIIiHBBBBBBI")

MAGIC = 0x594C4C4154434E53
EVENTS, DEFINITIONS = 0x53455645, 0x53464544
TSC, MONOTONIC, VIRTUAL = 1, 2, 3
API, CLASS, META, STREAM, STRING, FRAME, STACK, MODULE, NATIVE = range(1, 10)
PROCESS = 0xFFFFFFFF
THREAD = 3
COMPLETE, PENDING = 1, 2

MEMORY = {1: "pageable", 2: "pinned", 3: "managed", 4: "device"}
DIRECTION = {0: "h2h", 1: "h2d", 2: "d2h", 3: "d2d"}
KIND = {1: "call", 2: "step"}
COLUMNS = (
    "thread tid sequence kind api class stream handle enter_ns duration_ns status pending bytes source destination "
    "direction launches polls step device flags stack native"
).split()


class NotATrace(Exception):
    pass


codecs.register_error("synctally", lambda error: ("?" * (error.end - error.start), error.end))


def clean(data):
    text = data.decode("utf-8", errors="synctally")
    hidden = {code: "?" * len(chr(code).encode()) for code in (*range(0x20), *range(0x7F, 0xA0))}
    return text.translate(hidden)


class Trace:
    def __init__(self, data):
        self.data = data
        self.threads = {}  # index: (tid, lane, [event, ...])
        self.definitions = {}  # (process or lane, kind, id): payload
        self.last_pair = (0, 0)
        self.read_header()
        segments = list(self.segments())
        self.read_events([s for s in segments if s[1][0] == EVENTS])
        self.read_definitions(segments)
        self.ns_per_tick = self.find_scale()

    def read_header(self):
        if len(self.data) < FILE_HEADER.size:
            raise NotATrace("too short")
        header = FILE_HEADER.unpack_from(self.data)
        magic, self.major, _, header_bytes, self.pid, self.clock_kind = header[:6]
        self.start_ticks, self.start_monotonic_ns = header[6:8]
        if magic != MAGIC:
            raise NotATrace("wrong magic")
        if self.major != 1:
            raise NotATrace("unknown version")
        if not FILE_HEADER.size <= header_bytes <= 4096 or self.clock_kind not in (TSC, MONOTONIC, VIRTUAL):
            raise NotATrace("damaged header")

    def segments(self):
        """Yields (offset of the payload, header) of all segments behind the header block."""
        offset = BLOCK
        while offset + SEGMENT_HEADER.size <= len(self.data):
            header = SEGMENT_HEADER.unpack_from(self.data, offset)
            kind, size = header[:2]
            if kind in (EVENTS, DEFINITIONS) and size and size % BLOCK == 0:
                yield offset + SEGMENT_HEADER.size, header
                offset += size
            else:
                offset += BLOCK

    def payload_end(self, offset, size):
        return min(offset - SEGMENT_HEADER.size + size, len(self.data))

    def read_events(self, segments):
        for offset, header in sorted(segments, key=lambda s: (s[1][2], s[1][3], s[0])):
            _, size, lane, _, tid, used, last_ticks, last_monotonic_ns = header[:8]
            room = (self.payload_end(offset, size) - offset) // EVENT.size
            owner = (lane, tid)
            places = range(offset, offset + min(used, room) * EVENT.size, EVENT.size)
            if not places:
                self.threads.setdefault(lane, (tid, lane, []))
            for place in places:
                event = EVENT.unpack_from(self.data, place)
                if event[11] == THREAD and header[9]:
                    _, tid, thread = HANDOVER.unpack_from(self.data, place)
                    owner = (thread, tid)
                else:
                    self.threads.setdefault(owner[0], (owner[1], lane, []))[2].append(event)
            if last_ticks > self.last_pair[0]:
                self.last_pair = (last_ticks, last_monotonic_ns)

    def read_definitions(self, segments):
        places = []
        if len(self.data) >= 4096 + SEGMENT_HEADER.size:
            header = SEGMENT_HEADER.unpack_from(self.data, 4096)
            if header[0] == DEFINITIONS and header[1] == BLOCK - 4096:
                places.append((4096 + SEGMENT_HEADER.size, header))
        places += [s for s in segments if s[1][0] == DEFINITIONS]
        for offset, header in places:
            _, size, lane, _, _, used = header[:6]
            self.read_records(offset, min(offset + used, self.payload_end(offset, size)), lane)

    def read_records(self, at, end, lane):
        while at + DEFINITION_HEADER.size <= end:
            kind, pad, size, number, _ = DEFINITION_HEADER.unpack_from(self.data, at)
            if kind == 0 or size < 16 or size % 8 or at + size > end or pad > size - 16:
                return
            owner = PROCESS if kind in (API, CLASS, META, STREAM) else lane
            payload = self.data[at + 16 : at + size - pad]
            if number:
                self.definitions.setdefault((owner, kind, number), payload)
            at += size

    def find_scale(self):
        ticks, monotonic_ns = self.last_pair
        if self.clock_kind != TSC or ticks <= self.start_ticks or monotonic_ns <= self.start_monotonic_ns:
            return 1.0
        return float(monotonic_ns - self.start_monotonic_ns) / float(ticks - self.start_ticks)

    def span(self, ticks):
        if self.clock_kind != TSC:
            return min(ticks, 1 << 62)
        return min(int(float(ticks) * self.ns_per_tick + 0.5), 1 << 62)

    def at(self, ticks):
        return self.span(ticks - self.start_ticks) if ticks > self.start_ticks else 0

    # ---- names ----

    def defined(self, owner, kind, number, least=0, unit=1):
        payload = self.definitions.get((owner, kind, number))
        return payload if payload is not None and len(payload) >= least and len(payload) % unit == 0 else None

    def text(self, lane, number):
        payload = self.defined(lane, STRING, number)
        return "?" if payload is None else clean(payload)

    def api(self, number):
        payload = self.defined(PROCESS, API, number, 8)
        if payload is None:
            return f"api#{number}", "?"
        label = self.defined(PROCESS, CLASS, struct.unpack_from("<I", payload)[0])
        return clean(payload[8:]), "?" if label is None else clean(label.split(b"\0")[0])

    def stream(self, number):
        payload = self.defined(PROCESS, STREAM, number, 16)
        return "-" if payload is None else hex(struct.unpack_from("<Q", payload)[0])

    def stack(self, lane, number):
        payload = self.defined(lane, STACK, number, unit=4)
        frames = []
        for (frame,) in struct.iter_unpack("<I", payload or b""):
            fields = self.defined(lane, FRAME, frame, 16)
            if fields is None:
                frames.append("?:0 ?")
                continue
            file, function, line = struct.unpack_from("<III", fields)
            frames.append(f"{self.text(lane, file)}:{line} {self.text(lane, function)}")
        return " < ".join(frames) or "-"

    def native(self, lane, number):
        payload = self.defined(lane, NATIVE, number, unit=16)
        frames = []
        for module, _, offset in struct.iter_unpack("<IIQ", payload or b""):
            path = self.defined(lane, MODULE, module, 8)
            frames.append(f"{'?' if path is None else clean(path[8:])}+{offset:#x}")
        return " < ".join(frames) or "-"

    def lines(self):
        for index in sorted(self.threads):
            tid, lane, events = self.threads[index]
            for event in events:
                yield self.line(index, tid, lane, event)

    def line(self, index, tid, lane, event):
        (enter, duration, size, stack, native, stream, launches, polls, step, status, api, kind, flags, memory,
         direction, device, _, sequence) = event  # fmt: skip
        is_complete = flags & COMPLETE
        is_call = kind == 1
        return (
            (index, tid, sequence, KIND.get(kind, "unknown"))
            + ((*self.api(api), stream, self.stream(stream)) if is_call else ("-",) * 4)
            + (self.at(enter),)
            + ((self.span(duration), status) if is_complete else ("-", "-"))
            + (int(bool(flags & PENDING)), size, MEMORY.get(memory & 15, "-"), MEMORY.get(memory >> 4, "-"))
            + (DIRECTION.get(direction, "-"), launches, polls, step, device, hex(flags))
            + (self.stack(lane, stack), self.native(lane, native) if is_call else native)
        )


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        trace = Trace(data)
    except NotATrace as reason:
        print(f"read_trace.py: {path}: {reason}", file=sys.stderr)
        return 2
    print("# synctally-dump/1")
    print("\t".join(COLUMNS))
    for fields in trace.lines():
        print("\t".join(map(str, fields)))
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main(sys.argv[1]))
