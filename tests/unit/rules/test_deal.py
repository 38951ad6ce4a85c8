"""One deal, told in text: who is asked, what may be said, what is published. Hands are as small as the story allows."""

from __future__ import annotations

import pytest

from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import DealError, IllegalAnswer, Refusal
from bots_sdk.rules.events import (
    Called,
    DealEnded,
    Declaration,
    Declared,
    Event,
    KickClosed,
    Passed,
    Played,
    RoleShown,
    SoloKind,
    StakesSet,
    ThronePassed,
    Tribute,
    TrickEnded,
    WindowClosed,
)
from bots_sdk.rules.notation import format_answer, parse_answer, parse_hand
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import make_options


class Story:
    """A deal that is told line by line: `say("0 call 9c", "1 silent")`."""

    def __init__(self, *hands: str, profile: str = "qingdao", **overrides: object) -> None:
        options = make_options(profile, overrides)
        self.deal, self.events = Deal.start(options, 0, 0, [parse_hand(hand) for hand in hands], None)

    def say(self, *lines: str) -> list[Event]:
        events: list[Event] = []
        for line in lines:
            seat, text = line.split(" ", 1)
            events += self.deal.answer(int(seat), parse_answer(text))
        self.events += events
        return events

    def legal(self, seat: int) -> list[str]:
        return [format_answer(answer) for answer in self.deal.legal(seat)]

    def refuse(self, line: str) -> Refusal:
        with pytest.raises(IllegalAnswer) as caught:
            self.say(line)
        return caught.value.refusal

    def to_play(self) -> Story:
        """Seat 0 accepts, calls the nine of clubs, and nobody declares anything."""
        if self.deal.phase is Phase.WINDOW:
            self.say(*(f"{seat} stay" for seat in self.deal.asked))
        self.say("0 accept")
        self.say("0 dark 9c" if "dark 9c" in self.legal(0) else "0 call 9c")
        self.say(*(f"{seat} silent" for seat in self.deal.asked))
        return self


COURT = ("3d 4d 9c 9c 9c EJ", "6d 7d 9c", "5d 8d", "5h 8h", "5s 8s SJ")


def test_all_but_the_holder_are_asked_in_the_window_and_nobody_learns_before_the_last() -> None:
    story = Story(*COURT)
    assert list(story.deal.asked) == [1, 2, 3, 4]
    assert story.say("3 stay", "1 solo", "4 solo") == []
    assert list(story.deal.asked) == [2]
    assert story.refuse("1 stay") is Refusal.NOT_ASKED
    # Against the direction of play seat 4 comes before seat 1.
    assert story.say("2 stay") == [WindowClosed(4, SoloKind.GRAB)]
    assert parse_hand("EJ")[0] in story.deal.hand(4)
    assert story.deal.public.sizes == [5, 3, 2, 2, 4]
    assert list(story.deal.asked) == [4]
    assert story.deal.phase is Phase.PLAY


def test_a_holder_who_says_solo_comes_first_and_is_bright() -> None:
    story = Story(*COURT, holder_preempts=True)
    assert story.say("0 solo", "1 solo", "2 stay", "3 stay", "4 solo") == [WindowClosed(0, SoloKind.BRIGHT)]


def test_a_window_for_quads_only_makes_bright_solos() -> None:
    story = Story("3d EJ", "9c 9c 9c 9c", "9d 9d 9d", "5h 9d", "5s", grab="quad")
    assert [story.legal(seat) for seat in story.deal.asked] == [["stay", "solo"], ["stay"], ["stay"], ["stay"]]
    assert story.say("1 solo", "2 stay", "3 stay", "4 stay") == [WindowClosed(1, SoloKind.BRIGHT)]


def test_who_holds_no_triple_must_pass() -> None:
    story = Story("9c 9c EJ", "3c 4c 5c", "6c", "7c", "8c", grab="none")
    assert story.legal(0) == ["pass"]
    assert story.refuse("0 accept") is Refusal.WRONG_WORD


def test_stickers_travel_and_count_but_are_not_pasted_again() -> None:
    story = Story("2c 2d EJ", "9c", "4c", "2c 7c", "2c 2c Ad", grab="none", sticker="two_else_highest")
    assert story.legal(0) == ["pass 2c", "pass 2d"]
    assert story.refuse("0 pass") is Refusal.WRONG_CARD
    assert story.say("0 pass 2c") == [ThronePassed(0, parse_hand("2c")[0])]
    # With the sticker seat 4 holds three twos of clubs; it may not paste the one that came.
    assert story.legal(4) == ["accept", "pass 2c"]
    story.say("4 pass 2c")
    assert story.deal.public.stickers == parse_hand("2c 2c")
    assert story.legal(3) == ["accept", "pass 2c"]
    story.say("3 accept")
    assert story.deal.hand(3) == parse_hand("7c 2c 2c 2c EJ")
    assert story.legal(3) == ["call 2c"]


def test_an_exact_triple_forces_in_the_second_lap() -> None:
    story = Story("9c 9c 9c EJ", "3c 9c", "6c", "7c", "8c", grab="none")
    story.say("0 pass", "4 pass", "3 pass", "2 pass", "1 pass")
    assert story.legal(0) == ["accept"]
    assert story.refuse("0 pass") is Refusal.MUST_ACCEPT
    assert story.deal.default(0) == parse_answer("accept")


def test_a_quad_does_not_force_but_may_accept() -> None:
    story = Story("9c 9c 9c 9c EJ", "3c", "6c", "7c", "8c", grab="none")
    story.say("0 pass", "4 pass", "3 pass", "2 pass", "1 pass")
    assert story.legal(0) == ["accept", "pass"]


def test_ten_passes_void_the_deal() -> None:
    story = Story("9c 9c EJ", "3c", "6c", "7c", "8c", grab="none")
    story.say(*(f"{seat} pass" for seat in (0, 4, 3, 2, 1) * 2))
    assert story.deal.result is not None
    assert story.deal.result.voided
    assert story.deal.asked == ()


def test_call_and_dark_look_the_same() -> None:
    call = Story(*COURT, grab="none")
    dark = Story("3d 9c 9c 9c 9c EJ", "6d 7d 4d", *COURT[2:], grab="none")
    assert call.say("0 accept", "0 call 9c") == dark.say("0 accept", "0 dark 9c")
    assert call.events[-1] == Called(0, parse_hand("9c")[0], False)
    assert call.deal.asked == dark.deal.asked == (1, 2, 3, 4)
    assert call.legal(1) == ["silent", "reveal"]
    assert dark.legal(1) == ["silent"]
    assert call.deal.view(1).is_guard
    assert dark.deal.view(0).is_alone


def test_a_reveal_outdoes_rebel_calls() -> None:
    story = Story(*COURT, profile="bean", grab="none", low="3", sticker="none").say
    story("0 accept", "0 call 9c")
    assert story("2 rebel", "3 rebel", "4 rebel", "1 reveal") == [Declared(Declaration.REVEAL, 1)]
    assert story("2 kick", "3 silent", "4 kick") == [KickClosed(True)]


def test_one_rebel_call_is_not_published() -> None:
    story = Story(*COURT, profile="bean", grab="none", low="3", sticker="none", stakes=[1, 2])
    story.say("0 accept", "0 call 9c")
    assert story.say("1 silent", "2 rebel", "3 silent", "4 silent") == [Declared(Declaration.NONE, None)]
    assert story.deal.phase is Phase.STAKE
    assert story.refuse("0 stake 3") is Refusal.WRONG_AMOUNT
    said = story.say("0 stake 2", "1 stake 1", "2 stake 2", "3 stake 1", "4 stake 1")
    assert said == [StakesSet((2, 1, 2, 1, 1))]


def test_after_a_rebellion_one_of_the_court_is_enough_for_a_kick() -> None:
    story = Story(*COURT, profile="bean", grab="none", low="3", sticker="none")
    story.say("0 accept", "0 call 9c", "1 silent", "2 rebel", "3 rebel", "4 silent")
    assert story.deal.asked == (0, 1)
    assert story.deal.public.guard == 1
    assert story.say("0 silent", "1 kick") == [KickClosed(True)]


def test_who_must_lead_cannot_pass_and_weak_plays_are_refused() -> None:
    story = Story(*COURT, grab="none").to_play()
    assert story.refuse("0 pass") is Refusal.MUST_LEAD
    assert story.refuse("0 play 2c") is Refusal.NOT_HELD
    assert story.refuse("0 play 3d 4d") is Refusal.NO_PLAY
    assert story.refuse("1 play 6d") is Refusal.NOT_ASKED
    story.say("0 play 9c")
    assert story.refuse("1 play 9c") is Refusal.TOO_WEAK
    assert story.refuse("1 wind") is Refusal.WRONG_WORD
    story.say("1 pass", "2 pass", "3 pass")
    assert story.refuse("4 play 5s SJ") is Refusal.WRONG_COUNT


def test_who_yields_is_asked_again_and_then_the_owner_leads() -> None:
    story = Story(*COURT, grab="none").to_play()
    story.say("0 play 4d", "1 yield", "2 pass", "3 yield")
    assert story.legal(4)[:2] == ["pass", "yield"]
    story.say("4 pass")
    assert story.deal.asked == (1,)
    assert story.legal(1) == ["pass", "play 6d", "play 7d", "play 9c"]
    assert story.refuse("1 yield") is Refusal.WRONG_WORD
    assert story.say("1 pass") == [Passed(1)]
    assert story.say("3 pass") == [Passed(3), TrickEnded(0)]


def test_a_pass_locks_the_trick_only_with_the_option() -> None:
    for locks in (False, True):
        story = Story(*COURT, grab="none", pass_locks_trick=locks).to_play()
        story.say("0 play 3d", "1 pass", "2 play 5d", "3 pass", "4 pass", "0 pass")
        assert story.deal.asked == ((2,) if locks else (1,))


def test_a_claim_locks_the_trick_and_yielding_does_not() -> None:
    hands = ("9c 9c 9c EJ", "6d 9c SJ", "8d", "Th Td Ts 5d", "SJ SJ SJ")
    story = Story(*hands, grab="none", pass_locks_trick=True).to_play()
    story.say("0 play EJ", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 9c 9c 9c")
    story.say("1 wind", "2 yield", "3 play Td Th Ts", "4 pass")
    assert story.deal.asked == (2,)


def test_the_first_claimant_gets_the_wind() -> None:
    story = Story("9c 9c 9c EJ", "6d 9c", "5d 8d", "5h 8h", "5s 8s", grab="none").to_play()
    story.say("0 play EJ", "1 pass", "2 pass", "3 pass", "4 pass")
    story.say("0 play 9c 9c 9c")
    assert story.deal.public.out == (0,)
    assert story.legal(1) == ["pass", "yield", "wind"]
    story.say("1 yield", "2 pass", "3 wind", "4 wind")
    assert story.legal(1) == ["pass"]
    assert story.say("1 pass") == [Passed(1), TrickEnded(3)]


def test_a_new_play_voids_all_claims() -> None:
    story = Story("9c 9c 9c EJ", "6d 9c", "8d SJ", "5h 8h", "SJ SJ SJ", grab="none").to_play()
    story.say("0 play EJ", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 9c 9c 9c")
    story.say("1 pass", "2 pass", "3 wind", "4 play SJ SJ SJ")
    assert story.say("1 pass", "2 pass", "3 pass") == [Passed(1), Passed(2), Passed(3), TrickEnded(1)]


def test_without_a_claim_the_next_seat_with_cards_leads() -> None:
    story = Story("9c 9c 9c EJ", "6d 9c", "5d 8d", "5h 8h", "5s 8s", grab="none").to_play()
    story.say("0 play EJ", *(f"{seat} pass" for seat in (1, 2, 3, 4)), "0 play 9c 9c 9c")
    assert story.say(*(f"{seat} pass" for seat in (1, 2, 3, 4)))[-1] == TrickEnded(1)


def test_the_guard_card_shows_the_guard() -> None:
    story = Story(*COURT, grab="none").to_play()
    assert story.deal.view(2).guard is None
    assert story.deal.view(2).on_my_side(1) is None
    story.say("0 play 3d")
    nine = parse_hand("9c")
    assert story.say("1 play 9c") == [Played(1, nine, False), RoleShown(1)]
    assert story.deal.view(2).guard == 1
    assert story.deal.view(2).on_my_side(3) is True


def test_the_fourth_card_of_the_emperor_shows_that_he_is_alone() -> None:
    story = Story("3d 9c 9c 9c 9c EJ", "6d 7d 4d", *COURT[2:], grab="none").to_play()
    assert story.say("0 play 9c 9c 9c")[-1] == Played(0, parse_hand("9c 9c 9c"), False)
    story.say("1 pass", "2 pass", "3 pass", "4 pass")
    assert story.say("0 play 9c")[-1] == RoleShown(None)
    assert story.deal.view(3).on_my_side(1) is True


def test_a_solo_emperor_says_which_way_he_plays_his_special_card() -> None:
    hands = ("3d 9c 9c 9c 9c EJ", "6d 7d 4d", "5d 8d", "5h 8h", "5s 8s BJ")
    story = Story(*hands, profile="special", grab="none", sticker="none").to_play()
    assert "play 9c" in story.legal(0)
    assert "play ! 9c" in story.legal(0)
    assert "play ! 3d 9c" in story.legal(0)
    assert story.refuse("0 play ! 3d") is Refusal.WRONG_CARD
    assert story.say("0 play ! 9c") == [Played(0, parse_hand("9c"), True), RoleShown(None)]
    story.say("1 pass", "2 pass", "3 pass")
    assert story.legal(4) == ["pass"]


def test_the_last_card_of_the_face_is_the_special_one() -> None:
    hands = ("3d 9c 9c 9c 9c EJ", "6d 7d 4d", "5d 8d", "5h 8h", "5s 8s BJ")
    story = Story(*hands, profile="special", grab="none", sticker="none").to_play()
    four = story.deal.verify(0, parse_answer("play 9c 9c 9c 9c"))
    assert format_answer(four) == "play ! 9c 9c 9c 9c"


def test_a_guards_card_is_special_without_a_word() -> None:
    story = Story(*COURT, profile="special", grab="none", sticker="none").to_play()
    story.say("0 play EJ")
    assert story.legal(1) == ["pass", "play 9c"]
    assert story.say("1 play 9c") == [Played(1, parse_hand("9c"), True), RoleShown(1)]


def test_the_rank_held_back_is_played_with_the_whole_hand_only() -> None:
    story = Story("4d 9c 9c 9c EJ", "3d 7d 9c", "3h 3s SJ", "5h 8h", "5s 8s", grab="none", hold_back=3).to_play()
    story.say("0 play 4d")
    assert story.refuse("1 play 3d") is Refusal.HELD_BACK
    assert story.legal(1) == ["pass", "yield", "play 7d", "play 9c"]
    story.say("1 pass", "2 play SJ", "3 pass", "4 pass", "0 pass", "1 pass")
    assert story.legal(2) == ["play 3h 3s"]
    assert format_answer(story.deal.default(2)) == "play 3h 3s"


def test_an_open_solo_ends_when_anybody_is_out() -> None:
    story = Story("3d 9c 9c 9c 9c EJ", "6d", *COURT[2:], grab="none")
    story.say("0 accept", "0 bright 9c")
    assert story.deal.asked == (0,)
    ended = story.say("0 play 3d", "1 play 6d")[-1]
    assert isinstance(ended, DealEnded)
    assert ended.places == (1, 2, 3, 4, 0)
    assert ended.points == (-32, 8, 8, 8, 8)
    assert ended.hands[2] == parse_hand("5d 8d")


def test_one_left_ends_with_four_out_and_side_out_with_a_side() -> None:
    hands = ("9c 9c 9c EJ", "9c", "5d", "5h", "5s")
    for end, places in (("one_left", None), ("side_out", (0, 1, 2, 3, 4))):
        story = Story(*hands, grab="none", end=end, wind="auto").to_play()
        story.say("0 play EJ", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 9c 9c 9c")
        story.say("1 pass", "2 pass", "3 pass", "4 pass", "1 play 9c")
        assert (story.deal.result.places if story.deal.result else None) == places


@pytest.mark.parametrize(
    ("hand", "default"),
    [
        ("3d 4d 9c 9c 9c EJ", "play 3d"),
        ("3c 3d 9c 9c 9c EJ", "play 3c"),
        ("9c 9c 9c BJ EJ", "play 9c"),
    ],
)
def test_the_default_lead_is_the_lowest_single_card(hand: str, default: str) -> None:
    story = Story(hand, *COURT[1:], grab="none").to_play()
    assert format_answer(story.deal.default(0)) == default


def test_the_default_spares_the_guard_card() -> None:
    story = Story("4d 9c 9c 9c EJ", "9c 9d", *COURT[2:], grab="none").to_play()
    story.say("0 play 4d", "1 play 9d", "2 pass", "3 pass", "4 pass", "0 pass")
    assert format_answer(story.deal.default(1)) == "play 9c"
    other = Story("4d 9c 9c 9c EJ", "9c 9d 9h", *COURT[2:], grab="none").to_play()
    other.say("0 play 4d", "1 play 9d", "2 pass", "3 pass", "4 pass", "0 pass")
    assert format_answer(other.deal.default(1)) == "play 9h"


def test_defaults_before_play() -> None:
    story = Story(*COURT)
    assert format_answer(story.deal.default(1)) == "stay"
    story.say("1 stay", "2 stay", "3 stay", "4 stay")
    assert format_answer(story.deal.default(0)) == "pass"
    story.say("0 accept")
    assert format_answer(story.deal.default(0)) == "call 9c"
    story.say("0 call 9c")
    assert format_answer(story.deal.default(1)) == "silent"


def test_a_deal_needs_five_hands_and_one_emperor_card() -> None:
    for hands in ([b""] * 5, [parse_hand("EJ")] * 5, [parse_hand("EJ")]):
        with pytest.raises(DealError, match="five hands"):
            Deal.start(make_options("qingdao"), 0, 0, hands, None)


@pytest.mark.parametrize(
    ("profile", "hand", "other", "message"),
    [
        ("qingdao", "9c 9c 9c 9c 9c EJ", "3c", "the hands hold 5 of 9c, and the pack has 4"),
        ("qingdao", "9c EJ", "GJ", "the hands hold 1 of GJ, and the pack has 0"),
        ("classic", "9c EJ", "3c", "the hands hold 1 of 3c, and the pack has 0"),
        ("qingdao", "9c 9c EJ", "9c", "the hands hold 3 of 9c, and the fourth is missing"),
        ("qingdao", "BJ EJ", "BJ", "the hands hold 3 of BJ, and the fourth is missing"),
        ("classic-marked", "9c EJ", "8c", "GJ is missing"),
    ],
)
def test_cards_with_which_no_deal_can_be_played_are_refused(profile: str, hand: str, other: str, message: str) -> None:
    with pytest.raises(DealError) as caught:
        Story(hand, other, "6d", "7d", "8d", profile=profile)
    assert message in str(caught.value)


def test_bytes_that_are_no_cards_are_refused() -> None:
    with pytest.raises(DealError, match="the hands hold 1 of card 56, and the pack has 0"):
        Deal.start(make_options("qingdao"), 0, 0, [bytes([55, 56]), b"\0", b"\1", b"\2", b"\3"], None)


@pytest.mark.parametrize(
    ("pay", "take", "message"),
    [
        (((1, 2),), ((0, 2),), "seat 1 owes 2 cards and can pay 1"),
        (((1, 1), (1, 1)), ((0, 2),), "seat 1 owes 2 cards and can pay 1"),
        (((0, 1),), ((1, 1),), "seat 0 owes 1 cards and can pay 0"),
        (((1, 1),), ((0, 2),), "as many cards are taken as are paid"),
        (((1, 999_999_999),), ((0, 999_999_999),), "seat 1 owes 999999999 cards"),
    ],
)
def test_tribute_that_cannot_be_paid_is_refused(
    pay: tuple[tuple[int, int], ...], take: tuple[tuple[int, int], ...], message: str
) -> None:
    hands = [parse_hand(hand) for hand in ("EJ", "9c", "6d", "7d", "8d")]
    with pytest.raises(DealError) as caught:
        Deal.start(make_options("bean-qingdao"), 0, 0, hands, Tribute(pay, take))
    assert message in str(caught.value)


@pytest.mark.parametrize("end", ["one_left", "side_out"])
@pytest.mark.parametrize("call", ["bright 9c", "dark 9c"])
def test_who_has_no_cards_when_play_begins_is_out(call: str, end: str) -> None:
    story = Story("3d 9c 9c 9c 9c EJ", "", "", "", "", grab="none", reveal=False, end=end)
    story.say("0 accept", f"0 {call}")
    assert story.deal.public.out == (1, 2, 3, 4)
    story.say("0 play EJ", "0 play 3d", "0 play 9c 9c 9c 9c")
    assert story.deal.result is not None
    assert story.deal.result.places == (1, 2, 3, 4, 0)


def test_who_has_passed_on_all_cards_is_out_when_play_begins() -> None:
    story = Story("EJ", "9c 9c 9c", "5d", "5h 9c", "5s", grab="none", force="triple")
    story.say(
        "0 pass", "4 pass", "3 pass", "2 pass", "1 accept", "1 call 9c", *(f"{seat} silent" for seat in (0, 2, 3, 4))
    )
    assert story.deal.public.out == (0,)
    story.say("1 play 9c 9c 9c", "2 pass", "3 pass", "4 pass", "1 play EJ", "2 pass", "3 pass", "4 pass")
    story.say("2 play 5d", "3 play 9c", "4 pass", "3 play 5h")
    assert story.deal.result is not None
    assert story.deal.result.places == (0, 1, 2, 3, 4)


def test_what_nobody_has_seen_is_unseen() -> None:
    story = Story(*COURT, grab="none").to_play()
    view = story.deal.view(2)
    assert len(view.unseen) == 216 - 2
    story.say("0 play 9c 9c 9c")
    assert len(view.unseen) == 216 - 2 - 3
    assert view.unseen.count(parse_hand("9c")[0]) == 1
