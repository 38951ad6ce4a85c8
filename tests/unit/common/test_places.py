"""Where a process listens that Ray has put on some machine of its cluster."""

from __future__ import annotations

import pytest

from services.common.errors import SetupError
from services.common.places import Place, place_of
from services.common.settings import Settings

HOME, OTHER = "10.0.0.1", "10.0.0.2"


@pytest.mark.parametrize(
    ("settings", "machine", "place"),
    [
        (Settings(), HOME, Place("127.0.0.1", "127.0.0.1")),
        (Settings(host="10.0.0.1"), HOME, Place("10.0.0.1", "10.0.0.1")),
        (Settings(host="0.0.0.0", advertised_host="arena.org"), HOME, Place("0.0.0.0", "arena.org")),
        (Settings(host="0.0.0.0", advertised_host="arena.org"), OTHER, Place("0.0.0.0", OTHER)),
        (Settings(host="::", advertised_host="arena.org"), OTHER, Place("::", OTHER)),
        (Settings(host="10.0.0.1", advertised_host="arena.org"), OTHER, Place(OTHER, OTHER)),
    ],
)
def test_elsewhere_it_is_reached_by_the_address_of_its_machine(settings: Settings, machine: str, place: Place) -> None:
    assert place_of(settings, machine, HOME) == place


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_what_listens_on_this_machine_alone_cannot_be_elsewhere(host: str) -> None:
    with pytest.raises(SetupError, match=r"10\.0\.0\.2 is another machine of the Ray cluster"):
        place_of(Settings(host=host), OTHER, HOME)
