"""What is wrong with a tournament file: every problem with its key and its line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """One problem. `path` is the key (`clock.limit`, `bots[3]`; empty: the file as a whole), `line` counts from 1."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.path}: {self.message}" if self.path else f"line {self.line}: {self.message}"


class SpecError(ValueError):
    """A tournament file that cannot be used. `problems` are all that were found, in the order of their lines; its
    text has one line for each.
    """

    def __init__(self, problems: tuple[SpecProblem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[SpecProblem, ...]]]:
        return (SpecError, (self.problems,))
