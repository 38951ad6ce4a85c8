"""Full trees of tiny deals, node counts pinned: a change of any rule that they touch shows here."""

from __future__ import annotations

import pytest

from bots_sdk.rules.deal import Deal
from bots_sdk.rules.deal_notation import parse_deal
from bots_sdk.rules.notation import parse_answer
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from tests.counts.trees import Tree, count_tree

DEALS = {
    "qingdao": """
        rules qingdao hold_back=3
        dealer 0
        hand 0 9ccc EJ
        hand 1 9c
        hand 2 Td
        hand 3 SJ SJ SJ
        hand 4 3d SJ
        1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
    """,
    "classic": """
        rules classic roast=true
        dealer 0
        hand 0 9ccc EJ
        hand 1 9c 8s
        hand 2 Td SJ
        hand 3 6c 8sss
        hand 4 6h SJ
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
    """,
    "classic-marked": """
        rules classic-marked
        dealer 0
        hand 0 6d EJ
        hand 1 7d 8c GJ
        hand 2 Td
        hand 3 8s 9d
        hand 4 8d SJ
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call | 1 silent | 2 silent | 3 silent | 4 silent
    """,
    "bean": """
        rules bean stakes=1,2
        dealer 0
        hand 0 9ccc EJ
        hand 1 9c Td
        hand 2 Tccc
        hand 3 8s Tc
        hand 4 Kd SJ
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c
        1 reveal | 2 silent | 3 silent | 4 silent | 2 kick | 3 kick | 4 silent
        0 stake 1 | 1 stake 1 | 2 stake 1 | 3 stake 1 | 4 stake 1
    """,
    "bean-qingdao": """
        rules bean-qingdao
        dealer 0
        tribute pay 1:1 2:1 take 0:1 4:1
        hand 0 9ccc EJ
        hand 1 9c Td
        hand 2 Tdh
        hand 3 8s
        hand 4 SJ
        1 pay Td | 2 pay Td | 0 take Td | 4 take Td
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
    """,
    "special": """
        rules special three_twos=true
        dealer 0
        hand 0 9ccc EJ
        hand 1 4c 9c
        hand 2 2ddd
        hand 3 2d
        hand 4 BJ
        1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
    """,
}
"""Tiny deals with the answers up to the first lead."""

OPENINGS = {
    "qingdao": Tree(decisions=42, opened=21),
    "classic": Tree(decisions=66, opened=42),
    "classic-marked": Tree(decisions=79, opened=48),
    "bean": Tree(decisions=6_282, opened=6_272),
    "bean-qingdao": Tree(decisions=373, opened=336),
    "special": Tree(decisions=55, opened=25),
}
PLAYS = {
    "qingdao": Tree(decisions=11_938_718_831_222, ended=7_254_554_337_255),
    "classic": Tree(decisions=418_755, ended=153_567),
    "classic-marked": Tree(decisions=54_905, ended=20_617),
    "bean": Tree(decisions=185_626, ended=59_747),
    "bean-qingdao": Tree(decisions=450_681_989_598, ended=204_691_444_736),
    "special": Tree(decisions=20_745, ended=7_811),
}


def at_lead(profile: str) -> Deal:
    deal = parse_deal(DEALS[profile].replace("|", "\n")).play()
    assert deal.phase is Phase.PLAY
    assert deal.public.is_leading
    return deal


def as_dealt(profile: str) -> Deal:
    deal, _ = parse_deal(DEALS[profile].replace("|", "\n")).start()
    return deal


def test_no_profile_lacks_a_tree() -> None:
    assert set(DEALS) == set(OPENINGS) == set(PLAYS) == set(PROFILES)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_opening(profile: str) -> None:
    assert count_tree(as_dealt(profile), to_lead=True) == OPENINGS[profile]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_way_to_play(profile: str) -> None:
    assert count_tree(at_lead(profile)) == PLAYS[profile]


@pytest.mark.parametrize("profile", ["bean", "bean-qingdao"])
def test_positions_counted_once_or_each_time_come_to_the_same(profile: str) -> None:
    deal = as_dealt(profile)
    assert count_tree(deal, to_lead=True, merge=False) == count_tree(deal, to_lead=True)


def test_plays_counted_once_or_each_time_come_to_the_same() -> None:
    deal = at_lead("bean")
    for said in ("play 9c 9c 9c", "pass"):
        seat = deal.asked[0]
        deal.answer(seat, parse_answer(said))
    assert count_tree(deal, merge=False) == count_tree(deal)


def test_a_tree_counted_by_hand() -> None:
    """With the marked joker everybody can accept; in the second lap the first must: six ways to an emperor.

    Six throne nodes, and for each emperor one node for the call with two answers: 12 nodes, 12 leads.
    """
    text = "rules classic-marked grab=none sticker=none reveal=false\ndealer 0\n"
    text += "hand 0 EJ\nhand 1 GJ\nhand 2 Td\nhand 3 8s\nhand 4 SJ\n"
    deal, _ = parse_deal(text).start()
    assert count_tree(deal, to_lead=True, merge=False) == Tree(decisions=12, opened=12)


def test_a_void_tree_counted_by_hand() -> None:
    """Nobody holds three of a face: ten passes, one after the other.

    With stickers from the second pass on the seats 4, 3, 2, 1 choose among two suits, in the second lap seat 0 does,
    and the others have one card of their highest rank left: 1 + 1 + 2 + 4 + 8 + 16 + 4 * 32 nodes.
    """
    text = "dealer 0\nhand 0 6cd 7cd EJ\nhand 1 6cd 8cd\nhand 2 6hs 9cd\nhand 3 6hs Tcd\nhand 4 7hs Jcd\n"
    plain, _ = parse_deal(f"rules classic grab=none sticker=none\n{text}").start()
    assert count_tree(plain, to_lead=True, merge=False) == Tree(decisions=10, voided=1)
    pasted, _ = parse_deal(f"rules classic grab=none\n{text}").start()
    assert count_tree(pasted, to_lead=True, merge=False) == Tree(decisions=160, voided=32)
