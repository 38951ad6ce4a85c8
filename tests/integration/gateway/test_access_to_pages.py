"""Who may see which page of a real gateway: a browser shows its token in another way than a client."""

from __future__ import annotations

from baohuang.access.v1 import access_service_pb2 as access_pb
from tests.integration.gateway.house import GUESSES, House, basic, fetch


async def test_pages_of_a_closed_platform_ask_for_a_token(closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    for path in ("/", "/sd", "/?tournament=x"):
        reply = await fetch(f"{http}{path}")
        assert reply.status == 401
        assert reply.headers["www-authenticate"].startswith("Basic realm=")
        assert "This page needs a token with the scope read" in reply.text
        wrong = await fetch(f"{http}{path}", "Bearer bh_marked")
        assert wrong.status == 401
        assert "bh_marked" not in wrong.text
    for who in ("reader", "operator", "bot"):
        for authorization in (f"Bearer {closed.tokens[who]}", basic(closed.tokens[who])):
            assert (await fetch(f"{http}/sd", authorization)).status == 200
            assert (await fetch(f"{http}/", authorization)).status == 200
    for path in ("/metrics", "/healthz"):
        assert (await fetch(f"{http}{path}")).status == 200


async def test_a_revoked_token_opens_no_page(closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    assert (await fetch(f"{http}/", f"Bearer {closed.tokens['reader']}")).status == 200
    await closed.access.RevokeToken(access_pb.RevokeTokenRequest(name="reader"), metadata=closed.shown("operator"))
    assert (await fetch(f"{http}/", f"Bearer {closed.tokens['reader']}")).status == 401


async def test_who_guesses_over_http_has_to_wait_too(few_guesses: None, closed: House) -> None:
    http = f"http://{closed.addresses.http}"
    statuses = [(await fetch(f"{http}/", "Bearer bh_no")).status for _ in range(int(GUESSES.burst) + 5)]
    assert statuses[0] == 401
    reply = await fetch(f"{http}/", "Bearer bh_no")
    assert (reply.status, statuses[-1]) == (429, 429)
    assert int(reply.headers["retry-after"]) >= 1


async def test_pages_of_an_open_platform_ask_for_nothing(house: House) -> None:
    http = f"http://{house.addresses.http}"
    for path in ("/", "/sd", "/metrics", "/healthz"):
        assert (await fetch(f"{http}{path}")).status == 200
        # whatever a browser has kept of another platform at this address
        assert (await fetch(f"{http}{path}", "Bearer bh_nobody")).status == 200
