"""The one bridge between the stubs of the protocol and the values of the rules.

`x_to_proto` never fails; `x_from_proto` checks what came over the wire and raises `Malformed`, and nothing else. The
numbers of words, phases, solo kinds and declarations are the same on both sides.
"""

from bots_sdk.convert.answers import (
    answer_from_proto,
    answer_to_proto,
    decision_from_proto,
    phase_from_proto,
    phase_to_proto,
    word_from_proto,
    write_decision,
)
from bots_sdk.convert.decode import event_from_proto
from bots_sdk.convert.encode import event_to_proto, write_event, write_tribute
from bots_sdk.convert.options import options_from_proto, options_to_proto, shared_options

__all__ = [
    "answer_from_proto",
    "answer_to_proto",
    "decision_from_proto",
    "event_from_proto",
    "event_to_proto",
    "options_from_proto",
    "options_to_proto",
    "phase_from_proto",
    "phase_to_proto",
    "shared_options",
    "word_from_proto",
    "write_decision",
    "write_event",
    "write_tribute",
]
