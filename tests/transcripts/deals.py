"""A short deal for each profile, hand-made so that it passes through what the profile has of its own."""

from __future__ import annotations

DEALS = {
    # No stickers in the first lap but from the second pass on, two laps, roasting, the lowest rank last.
    "classic": """
        rules classic roast=true hold_back=6
        dealer 2
        hand 0 6c 9ccc 2c EJ
        hand 1 7d 9c Td 2h
        hand 2 6d Jcc BJ
        hand 3 8s Qdd SJ SJ SJ
        hand 4 6s 8s Acc Kd
        3 stay | 0 stay | 1 stay | 2 stay | 4 stay
        0 pass | 4 pass Ac | 3 pass Qd | 2 pass Jc | 1 pass 2h | 0 accept | 0 call 9c
        1 silent | 4 silent | 2 silent | 3 silent
        0 play Ac | 1 pass | 2 play BJ | 3 play SJ SJ SJ | 4 pass
    """,
    # The guard is who holds the marked joker; the emperor needs no triple.
    "classic-marked": """
        rules classic-marked
        dealer 0
        hand 0 6d 7c 2d EJ
        hand 1 7d 8c GJ
        hand 2 6d Td
        hand 3 8s 9d
        hand 4 8d Kc SJ
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay
        0 pass | 4 accept | 4 call | 0 silent | 1 silent | 2 silent | 3 silent
    """,
    # A rebellion, a kick, and stakes.
    "bean": """
        rules bean stakes=1,2,3 beans=true room=10
        dealer 0
        hand 0 6d 9ccc EJ
        hand 1 7d 9c
        hand 2 Tc Td
        hand 3 8s 8h
        hand 4 Kd SJ
        0 stay | 1 stay | 2 stay | 3 stay | 4 stay
        0 accept | 0 call 9c
        1 silent | 2 rebel | 3 rebel | 4 silent | 1 kick | 0 silent
        4 stake 3 | 3 stake 1 | 2 stake 1 | 1 stake 2 | 0 stake 3
    """,
    # Tribute is paid and taken, and the guard reveals itself.
    "bean-qingdao": """
        rules bean-qingdao
        dealer 4
        tribute pay 1:1 2:1 take 0:1 4:1
        hand 0 9ccc EJ
        hand 1 9c Tdd
        hand 2 Tdd Kcd
        hand 3 8s 8h
        hand 4 SJ Qs
        1 pay Td | 2 pay Kd | 0 take Td | 4 take Kd
        4 stay | 3 stay | 2 stay | 1 stay | 0 stay
        0 accept | 0 call 9c | 1 reveal | 2 silent | 3 silent | 4 silent | 3 silent | 2 kick | 4 kick
        0 play Td | 1 yield | 2 play Kc | 3 yield | 4 yield | 0 yield | 1 yield
    """,
    # The guard's card is above the big jokers.
    "special": """
        rules special three_twos=true
        dealer 0
        hand 0 4d 9ccc EJ
        hand 1 4c 9c
        hand 2 2ddd 5c
        hand 3 BJ 2d
        hand 4 BJ BJ 5d
        1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
        0 play EJ | 1 pass | 2 play 2d 2d 2d | 3 pass | 4 pass | 0 pass | 1 pass
        2 play 5c | 3 play BJ | 4 pass | 0 pass | 1 play 9c
    """,
    # Somebody takes the throne in the window, and another time yields and claims the wind.
    "qingdao": """
        rules qingdao hold_back=3 titles=true
        dealer 0
        hand 0 9ccc EJ
        hand 1 9c 4d
        hand 2 Td
        hand 3 4d SJ
        hand 4 3d 8h BJ
        1 stay | 2 stay | 3 stay | 4 stay | 0 accept | 0 call 9c | 1 silent | 2 silent | 3 silent | 4 silent
        0 play 9c | 1 pass | 2 play Td | 3 wind | 4 yield | 0 pass | 1 wind | 4 pass
    """,
}
"""Deals as text; after the answers given the seats go on by themselves, see `complete`."""
