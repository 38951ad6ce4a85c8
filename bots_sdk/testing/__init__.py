"""For tests: whether a bot is fit to play, and doubles of the platform that speak real gRPC.

`check_bot` needs no network. The doubles are in `bots_sdk.testing.fake_lobby` and
`bots_sdk.testing.fake_match_service`; `bots_sdk.testing.hosted_match` plays a match on a stream of the latter.
"""

from bots_sdk.testing.conformance import BotReport, check_bot

__all__ = ["BotReport", "check_bot"]
