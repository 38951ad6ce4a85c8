"""The operator's first token: a file only its owner reads, made once, and made anew on demand."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from services.access.operator import (
    OPERATOR_FILE,
    OperatorToken,
    provide_operator_token,
    reset_operator_token,
    write_token,
)
from services.access.tokens import hash_token
from services.common.errors import SetupError
from services.common.scopes import Scope
from services.ledger.ledger import Ledger


def token_in(folder: Path) -> str:
    return (folder / OPERATOR_FILE).read_text().strip()


def test_the_first_start_makes_one_and_later_starts_leave_it(ledger: Ledger, tmp_path: Path) -> None:
    assert provide_operator_token(ledger, tmp_path) is OperatorToken.MADE
    token = token_in(tmp_path)
    known = ledger.access_token_with(hash_token(token))
    assert known is not None
    assert known.name == "operator"
    assert known.scopes == {Scope.OPERATE}
    assert provide_operator_token(ledger, tmp_path) is OperatorToken.THERE
    assert token_in(tmp_path) == token


def test_only_its_owner_can_read_the_file_and_no_other_is_left(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    provide_operator_token(ledger, folder)
    assert [(file.name, stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()] == [(OPERATOR_FILE, 0o600)]


@pytest.mark.parametrize("left", [None, "bh_another", b"\xff\xfe", ""])
def test_a_file_that_is_gone_or_of_another_platform_is_noticed_and_not_replaced(
    ledger: Ledger, tmp_path: Path, left: str | bytes | None
) -> None:
    """Who has moved it away, or works with a token of his own name, wants no other operator to come about."""
    provide_operator_token(ledger, tmp_path)
    file = tmp_path / OPERATOR_FILE
    if left is None:
        file.unlink()
    else:
        file.write_bytes(left if isinstance(left, bytes) else left.encode())
    assert provide_operator_token(ledger, tmp_path) is OperatorToken.ELSEWHERE
    assert file.exists() is (left is not None)


def test_a_ledger_made_anew_gets_a_token_of_its_own(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / OPERATOR_FILE).write_text("bh_of_the_ledger_before\n")
    assert provide_operator_token(ledger, tmp_path) is OperatorToken.MADE
    assert ledger.access_token_with(hash_token(token_in(tmp_path))) is not None


@pytest.mark.parametrize("is_revoked", [False, True])
def test_resetting_ends_the_one_before(ledger: Ledger, tmp_path: Path, is_revoked: bool) -> None:
    provide_operator_token(ledger, tmp_path)
    old = token_in(tmp_path)
    (tmp_path / OPERATOR_FILE).unlink()
    if is_revoked:
        ledger.revoke_access_token("operator")
    assert reset_operator_token(ledger, tmp_path) == tmp_path / OPERATOR_FILE
    assert ledger.access_token_with(hash_token(old)) is None
    known = ledger.access_token_with(hash_token(token_in(tmp_path)))
    assert known is not None
    assert known.revoked_at is None


def test_resetting_a_ledger_of_before_makes_the_first(ledger: Ledger, tmp_path: Path) -> None:
    reset_operator_token(ledger, tmp_path)
    assert ledger.access_token_with(hash_token(token_in(tmp_path))) is not None


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / OPERATOR_FILE).write_text("bh_old\n")
    (tmp_path / f"{OPERATOR_FILE}.new").write_text("of a start that was cut short")
    write_token(tmp_path / OPERATOR_FILE, "bh_new")
    assert token_in(tmp_path) == "bh_new"
    with pytest.raises(SetupError, match="cannot be written") as caught:
        write_token(tmp_path / "nowhere" / "x.token", "bh_marked")
    assert "bh_marked" not in f"{caught.value!r}{caught.value.metadata}"
