"""The event log: what happened on each rank, in order, and what was live after it."""

import sys
from collections import namedtuple

FIELDS = ("rank", "step", "micro_batch", "phase", "at", "event", "tensor", "category", "numel", "num_bytes", "tier", "lane",
          "start_s", "end_s", "line", "live_bytes", "reserved_bytes")

Event = namedtuple("Event", FIELDS)
Event.__doc__ = """One event of one rank.

``event``: allocate, free, gather, prefetch, release (memory); forward, recompute, backward, adam (lane "compute");
all_gather, reduce_scatter, all_reduce (lane "communication"); offload, upload (lane "host"); out_of_memory.
``at`` is the layer being worked on, ``tensor`` and ``category`` what the event concerns; ``numel`` elements (for a
collective those of the full buffer). ``num_bytes`` is signed for memory events: their change of ``tier``'s live bytes.
``line`` is the line of the training loop that asked for it. The last two are the device's meters after the event.
"""
MEMORY_EVENTS = ("allocate", "free", "gather", "prefetch", "release")
COLLECTIVES = ("all_gather", "reduce_scatter", "all_reduce")


class Log:
    """Events as they come, and where the run is: step, micro-batch, phase, layer. ``loop_file`` is the loop's source."""

    def __init__(self, loop_file):
        self.events, self.loop_file = [], loop_file
        self.step, self.micro_batch, self.phase, self.at = -1, -1, "start", ""

    def record(self, rank, event, tensor="", category="", numel=0, num_bytes=0, tier="", lane="", start_s=0.0, end_s=0.0,
               live_bytes=0, reserved_bytes=0, line=None):
        """Append one ``Event``."""
        self.events.append(Event(rank, self.step, self.micro_batch, self.phase, self.at, event, tensor, category, numel,
                                 num_bytes, tier, lane, start_s, end_s, self.line() if line is None else line,
                                 live_bytes, reserved_bytes))

    def line(self):
        """The line of the training loop that is running, 0 outside of it."""
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename != self.loop_file:
            frame = frame.f_back
        return frame.f_lineno if frame else 0

    def instant(self):
        """Where the run is, in words: "backward of layers.2"."""
        return f"{self.phase} of {self.at}" if self.at else self.phase
