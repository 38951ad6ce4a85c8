"""Writes the transcripts anew: python -m tests.transcripts.write. Look at the difference before committing it."""

from __future__ import annotations

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.deal_notation import WrittenDeal, parse_deal
from tests.transcripts.deals import DEALS
from tests.transcripts.telling import tell, transcript_path


def complete(written: WrittenDeal) -> WrittenDeal:
    """The deal played on to its end: who can beat does with the first play there is, who leads leads the first one."""
    deal = written.play()
    answers = list(written.answers)
    while not deal.is_over:
        seat = deal.asked[0]
        legal = deal.legal(seat)
        answer: Answer = next((one for one in legal if one.word is Word.PLAY), legal[0])
        answers.append((seat, answer))
        deal.answer(seat, answer)
    return WrittenDeal(written.options, written.dealer, written.hands, written.tribute, tuple(answers))


def transcript(profile: str) -> str:
    """The transcript of the deal of a profile."""
    return tell(complete(parse_deal(DEALS[profile].replace("|", "\n"))))


if __name__ == "__main__":
    for profile in DEALS:
        transcript_path(profile).write_text(transcript(profile))
        print(transcript_path(profile).name)
