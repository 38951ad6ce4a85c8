"""What a client counts: how the bot did as far as the wire and the clock are concerned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ClientStatistics:
    """Counts since the client was made; all of its match services and tables together.

    Attributes:
        matches: matches that ended and count.
        void_matches: matches that ended and do not count.
        decisions: answers sent.
        failures: the bot raised or answered what is not legal, and the default was sent instead.
        late_defaults: the bot had not answered when time was almost up, and the default was sent instead.
        dropped: answers that came too late to be sent.
        timeouts: decisions that the platform says came too late.
        rejected: answers that the platform refused.
        takeovers: matches in which a house bot played on.
        gaps: streams that were opened anew because something did not fit.
        welcomes: streams that a match service welcomed.
        reconnects: streams that were opened anew for any reason.
        charged_us: thinking time charged, in microseconds.
        most_charged_us: the most for one decision.
    """

    matches: int = 0
    void_matches: int = 0
    decisions: int = 0
    failures: int = 0
    late_defaults: int = 0
    dropped: int = 0
    timeouts: int = 0
    rejected: int = 0
    takeovers: int = 0
    gaps: int = 0
    welcomes: int = 0
    reconnects: int = 0
    charged_us: int = 0
    most_charged_us: int = 0

    def summary(self) -> str:
        """One line for a person."""
        mean = self.charged_us / self.decisions / 1000 if self.decisions else 0.0
        parts = [f"{self.matches} matches", f"{self.decisions} decisions", f"{mean:.1f} ms each"]
        troubles = (
            (self.failures, "failed"),
            (self.late_defaults, "answered by default for want of time"),
            (self.timeouts, "timed out"),
            (self.rejected, "rejected"),
            (self.takeovers, "taken over"),
            (self.reconnects, "reconnects"),
        )
        return ", ".join(parts + [f"{number} {what}" for number, what in troubles if number])
