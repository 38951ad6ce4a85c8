"""Reading from a message of the service only what a scripted bot needs, at the speed of protobuf's own parser.

The messages declared here read the same bytes as `PlayResponse`. Its records are declared once instead of repeatedly,
so that the parser merges them all into one, in which the requests stand behind each other; events and charges are
fields that this reader does not know, and skips.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from baohuang.match.v1 import match_service_pb2 as pb

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "baohuang.benchmark.v1"


def _number(kind: Any, name: str) -> int:
    found: int = kind.DESCRIPTOR.fields_by_name[name].number
    return found


def _declare() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="baohuang/benchmark/v1/telling.proto", package=_PACKAGE)
    file.syntax = "proto3"

    def message(name: str) -> Any:
        return file.message_type.add(name=name)

    def number(holder: Any, kind: Any, name: str) -> None:
        holder.field.add(name=name, number=_number(kind, name), type=_Field.TYPE_UINT32, label=_Field.LABEL_OPTIONAL)

    def part(holder: Any, kind: Any, name: str, of: str, *, repeated: bool = False) -> None:
        holder.field.add(
            name=name,
            number=_number(kind, name),
            type=_Field.TYPE_MESSAGE,
            type_name=f".{_PACKAGE}.{of}",
            label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
        )

    seated = message("Seated")
    number(seated, pb.Seated, "table")
    seated.field.add(
        name="match_id",
        number=_number(pb.Seated, "match_id"),
        type=_Field.TYPE_STRING,
        label=_Field.LABEL_OPTIONAL,
    )
    request = message("Request")
    number(request, pb.Request, "table")
    number(request, pb.Request, "request")
    ended = message("MatchEnded")
    number(ended, pb.MatchEnded, "table")
    resumed = message("Resumed")
    part(resumed, pb.Resumed, "seated", "Seated")
    resumed.field.add(
        name="ready_expected",
        number=_number(pb.Resumed, "ready_expected"),
        type=_Field.TYPE_BOOL,
        label=_Field.LABEL_OPTIONAL,
    )
    part(resumed, pb.Resumed, "request", "Request")
    records = message("Records")
    part(records, pb.ServerRecord, "seated", "Seated", repeated=True)
    part(records, pb.ServerRecord, "request", "Request", repeated=True)
    part(records, pb.ServerRecord, "match_ended", "MatchEnded", repeated=True)
    part(records, pb.ServerRecord, "resumed", "Resumed", repeated=True)
    told = message("Told")
    part(told, pb.PlayResponse, "records", "Records")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Told"))


Told = _declare()
"""Reads a `PlayResponse`: `records.seated`, `.request`, `.match_ended`, `.resumed`, each in their order."""
