"""Settings: where they come from, which wins, and what is said about a wrong one."""

from __future__ import annotations

import pickle
import socket
from dataclasses import FrozenInstanceError
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.errors import SetupError
from services.common.ledger_urls import format_place
from services.common.settings import LogLevel, Registration, Settings, load_settings


def test_without_anything_the_defaults_hold_and_nobody_outside_reaches_the_platform() -> None:
    settings = load_settings({}, {})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.http_port) == ("127.0.0.1", 7400, 7480)
    assert settings.address == "127.0.0.1:7400"


def test_every_field_can_come_from_the_environment() -> None:
    environ = {
        "BAOHUANG_DATA_DIR": "elsewhere",
        "BAOHUANG_LEDGER": "postgresql://arena:word@db.example.org/arena",
        "BAOHUANG_HOST": "0.0.0.0",
        "BAOHUANG_ADVERTISED_HOST": "arena.example.org",
        "BAOHUANG_PORT": "1",
        "BAOHUANG_HTTP_PORT": "2",
        "BAOHUANG_MATCH_SERVICES": "3",
        "BAOHUANG_MATCH_PORT": "4",
        "BAOHUANG_TLS_SERVER_CERT": "server.pem",
        "BAOHUANG_TLS_SERVER_KEY": "server.key",
        "BAOHUANG_TLS_CLIENT_CA": "ca.pem",
        "BAOHUANG_TLS_CLIENT_CRL": "revoked.crl",
        "BAOHUANG_ALLOW_PLAINTEXT": "Yes",
        "BAOHUANG_REGISTRATION": "Operators",
        "BAOHUANG_READ_REQUIRES_TOKEN": "true",
        "BAOHUANG_RAY_ADDRESS": "ray.example.org:6379",
        "BAOHUANG_HEARTBEAT": "1500ms",
        "BAOHUANG_LOG_LEVEL": "DEBUG",
    }
    assert set(environ) == {f"BAOHUANG_{name.upper()}" for name in Settings.__slots__}
    settings = load_settings({}, environ)
    assert settings == Settings(
        data_dir=Path("elsewhere"),
        ledger="postgresql://arena:word@db.example.org/arena",
        host="0.0.0.0",
        advertised_host="arena.example.org",
        port=1,
        http_port=2,
        match_services=3,
        match_port=4,
        tls_server_cert=Path("server.pem"),
        tls_server_key=Path("server.key"),
        tls_client_ca=Path("ca.pem"),
        tls_client_crl=Path("revoked.crl"),
        allow_plaintext=True,
        registration=Registration.OPERATORS,
        read_requires_token=True,
        ray_address="ray.example.org:6379",
        heartbeat=timedelta(seconds=1.5),
        log_level=LogLevel.DEBUG,
    )
    assert settings.address == "arena.example.org:1"


def test_the_real_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAOHUANG_PORT", "9999")
    assert load_settings().port == 9999


def test_options_win_over_the_environment_unless_not_given() -> None:
    environ = {"BAOHUANG_PORT": "1000", "BAOHUANG_HTTP_PORT": "2000", "BAOHUANG_LOG_LEVEL": ""}
    settings = load_settings({"port": 0, "http_port": None, "heartbeat": timedelta(seconds=2)}, environ)
    assert (settings.port, settings.http_port, settings.heartbeat) == (0, 2000, timedelta(seconds=2))
    assert settings.log_level is LogLevel.INFO


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("PORT", "65536", "BAOHUANG_PORT is '65536', but must be a whole number from 0 to 65535."),
        ("PORT", "-1", "BAOHUANG_PORT is '-1', but must be a whole number from 0 to 65535."),
        ("HTTP_PORT", "http", "BAOHUANG_HTTP_PORT is 'http', but must be a whole number from 0 to 65535."),
        ("MATCH_SERVICES", "0", "BAOHUANG_MATCH_SERVICES is '0', but must be a whole number from 1 to 256."),
        ("MATCH_SERVICES", "٣", "BAOHUANG_MATCH_SERVICES is '٣', but must be a whole number from 1 to 256."),
        ("HEARTBEAT", "5", "BAOHUANG_HEARTBEAT is '5', but must be a duration from 100ms to 5m, such as 500ms or 5s."),
        (
            "HEARTBEAT",
            "6m",
            "BAOHUANG_HEARTBEAT is '6m', but must be a duration from 100ms to 5m, such as 500ms or 5s.",
        ),
        ("LOG_LEVEL", "loud", "BAOHUANG_LOG_LEVEL is 'loud', but must be one of debug, info, warning, error."),
        ("HOST", "a b", "BAOHUANG_HOST is 'a b', but must be a host name or an IP address, without a port."),
        ("HOST", "x:1", "BAOHUANG_HOST is 'x:1', but must be a host name or an IP address, without a port."),
        (
            "DATA_DIR",
            __file__,
            f"BAOHUANG_DATA_DIR is {__file__!r}, but must be a folder, or a path where one can be made.",
        ),
        (
            "DATA_DIR",
            "/nowhere/\udcff",
            "BAOHUANG_DATA_DIR is '/nowhere/\\udcff', but must be a folder with a name that can be printed.",
        ),
        (
            "DATA_DIR",
            "x" * 300,
            f"BAOHUANG_DATA_DIR is {'x' * 300!r}, but must be a path that can be looked at (File name too long).",
        ),
        (
            "DATA_DIR",
            "~nobody-here/x",
            "BAOHUANG_DATA_DIR is '~nobody-here/x', but must be a path; whose home directory is meant is not known.",
        ),
        ("PROT", "7400", "BAOHUANG_PROT is no setting; BAOHUANG_PORT is meant, it seems."),
    ],
)
def test_a_wrong_variable_is_refused_in_one_sentence(variable: str, text: str, sentence: str) -> None:
    with pytest.raises(SetupError) as caught:
        load_settings({}, {f"BAOHUANG_{variable}": text})
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"port": 99999}, "--port is '99999', but must be a whole number from 0 to 65535."),
        ({"match_services": 1.5}, "--match-services is '1.5', but must be a whole number from 1 to 256."),
        ({"port": 80, "http_port": 80}, "--port and --http-port are both 80, but every port serves one purpose."),
        (
            {"match_port": 7479, "match_services": 2},
            "--http-port and a port from --match-port on are both 7480, but every port serves one purpose.",
        ),
        ({"match_port": 65535}, "--match-port is 65535, too high for 2 match services."),
        (
            {"host": "::"},
            "--host is ::, which is every interface and no address: name with --advertised-host the name or IP address "
            "under which bots reach this machine.",
        ),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(overrides: dict[str, object], sentence: str) -> None:
    with pytest.raises(SetupError) as caught:
        load_settings(overrides, {})
    assert str(caught.value) == sentence


def test_an_unknown_option_is_refused_with_the_list_of_settings() -> None:
    with pytest.raises(
        SetupError, match=r"^--colour is no setting; the settings are data_dir, ledger, .*, log_level\.$"
    ):
        load_settings({"colour": "red"}, {})


def test_variables_of_other_programs_are_left_alone() -> None:
    assert load_settings({}, {"BAOHUANG_TOKEN": "t", "PORT": "x", "BAOHUANG_SERVER": "h:1"}) == Settings()


def test_an_ipv6_host_makes_an_address_in_brackets() -> None:
    assert load_settings({"host": "[::1]"}, {}).address == "[::1]:7400"


def test_settings_are_a_value_that_travels() -> None:
    settings = load_settings({"port": 5}, {})
    assert pickle.loads(pickle.dumps(settings)) == settings
    with pytest.raises(FrozenInstanceError):
        settings.port = 6  # type: ignore[misc]


# ---- who may reach the platform, and TLS


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "::ffff:127.0.0.1", "localhost"])
def test_without_tls_this_machine_is_served(host: str) -> None:
    assert load_settings({"host": host}, {}).tls is None


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.1", "::ffff:c000:201", "10.0.0.1", "fe80::1", "2001:db8::1"]
)
def test_without_tls_nobody_else_is(host: str) -> None:
    for environ in ({}, {"BAOHUANG_ADVERTISED_HOST": "127.0.0.1"}):
        if host not in ("0.0.0.0", "::") or environ:
            with pytest.raises(SetupError) as caught:
                load_settings({"host": host}, environ)
            assert str(caught.value) == (
                f"--host is {host}, which others than this machine can reach, and without TLS whoever is on the way "
                "reads tokens and hands: give --tls-server-cert and --tls-server-key, or say --allow-plaintext if you "
                "trust the network between you and your bots."
            )


def test_a_name_is_as_loopback_as_all_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {"both.example": ["127.0.0.1", "192.0.2.1"], "here.example": ["127.0.1.1", "::1"]}

    def resolve(host: str, _port: object, **_more: object) -> list[tuple[object, ...]]:
        if host not in addresses:
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (address, 0)) for address in addresses[host]]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    assert load_settings({"host": "here.example"}, {}).host == "here.example"
    with pytest.raises(SetupError, match=r"^--host is both\.example, which others than this machine can reach"):
        load_settings({"host": "both.example"}, {})
    with pytest.raises(SetupError, match=r"^--host is nowhere\.example, a name that this machine does not know\.$"):
        load_settings({"host": "nowhere.example"}, {})


@pytest.mark.parametrize(
    "way_out", [{"allow_plaintext": True}, {"tls_server_cert": "server.pem", "tls_server_key": "server.key"}]
)
def test_with_either_way_out_everybody_may_be(way_out: dict[str, object]) -> None:
    everywhere = {"host": "0.0.0.0", "advertised_host": "arena.example.org"}
    assert load_settings({**everywhere, **way_out}, {}).host == "0.0.0.0"


def test_a_proxy_that_speaks_tls_for_the_platform_needs_nothing_of_it() -> None:
    settings = load_settings({"advertised_host": "arena.example.org"}, {})
    assert (settings.host, settings.reachable_host) == ("127.0.0.1", "arena.example.org")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"tls_server_cert": "a.pem"},
            "--tls-server-cert is given, but not --tls-server-key: TLS needs a certificate and its private key, so "
            "name the file of the private key as well.",
        ),
        (
            {"tls_server_key": "a.key"},
            "--tls-server-key is given, but not --tls-server-cert: TLS needs a certificate and its private key, so "
            "name the file of the certificate as well.",
        ),
        (
            {"tls_client_ca": "ca.pem"},
            "--tls-client-ca is given, but not --tls-server-cert: TLS needs a certificate and its private key, so "
            "name the file of the certificate as well.",
        ),
        (
            {"tls_server_cert": "a.pem", "tls_server_key": "a.key", "tls_client_crl": "a.crl"},
            "--tls-client-crl is given, but not --tls-client-ca: certificates are looked at only where they are "
            "demanded, so name the file of the authority that has issued them as well.",
        ),
        ({"tls_server_cert": "/"}, "--tls-server-cert is '/', but must be a file."),
        ({"allow_plaintext": "perhaps"}, "--allow-plaintext is 'perhaps', but must be yes or no."),
    ],
)
def test_what_is_missing_or_wrong_of_tls_is_said(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(SetupError) as caught:
        load_settings(given, {})
    assert str(caught.value) == sentence


def test_the_variables_of_clients_are_none_of_the_platforms() -> None:
    environ = {"BAOHUANG_TLS": "1", "BAOHUANG_TLS_CA": "a", "BAOHUANG_TLS_CERT": "b", "BAOHUANG_TLS_KEY": "c"}
    assert load_settings({}, environ) == Settings()


@pytest.mark.parametrize(
    ("registration", "host", "is_open"),
    [
        ("local", "127.0.0.1", True),
        ("local", "::1", True),
        ("local", "localhost", True),
        ("local", "192.0.2.1", False),
        ("open", "192.0.2.1", True),
        ("operators", "127.0.0.1", False),
    ],
)
def test_who_may_register_follows_from_who_can_reach_the_platform(registration: str, host: str, is_open: bool) -> None:
    settings = load_settings({"registration": registration, "host": host, "allow_plaintext": "yes"}, {})
    assert settings.registration_is_open is is_open


def test_a_registration_for_nobody_is_refused_with_what_there_is() -> None:
    with pytest.raises(SetupError, match="must be one of local, open, operators"):
        load_settings({"registration": "closed"}, {})


def test_where_the_token_of_a_command_is_does_not_look_like_a_misspelt_setting() -> None:
    load_settings({}, {"BAOHUANG_TOKEN": "bh_x", "BAOHUANG_TOKEN_FILE": "f"})


# -------------------------------------------------------------------------------------------------- where the ledger is


def test_the_ledger_is_a_file_in_the_data_directory_unless_a_database_is_named() -> None:
    assert Path(load_settings({"data_dir": "x"}, {}).ledger_place) == Path("x/ledger.db")
    assert load_settings({"ledger": "postgresql://u@h/d"}, {}).ledger_place == "postgresql://u@h/d"


@pytest.mark.parametrize(
    "url", ["postgresql://u:word@h/d", "postgres://u:wo/rd@h/d", "postgresql://h/d?user=u&password=word"]
)
def test_a_password_for_all_to_read_is_refused_and_one_from_elsewhere_is_not_shown(tmp_path: Path, url: str) -> None:
    with pytest.raises(SetupError, match="list of processes") as caught:
        load_settings({"ledger": url}, {})
    assert "word@" not in caught.value.message
    (tmp_path / "url").write_text(url + "\n")
    for settings in (
        load_settings({}, {"BAOHUANG_LEDGER": url}),
        load_settings({"ledger": f"@{tmp_path / 'url'}"}, {}),
    ):
        assert settings.ledger == url
        assert "word" not in repr(settings)
        assert "rd" not in format_place(settings.ledger_place)


@pytest.mark.parametrize("value", ["mysql://u:word@h/d", "arena.db", "@/nowhere/at/all", "@/dev"])
def test_what_names_no_database_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(SetupError, match="--ledger is what may be secret, but must be") as caught:
        load_settings({"ledger": value}, {})
    assert "word" not in caught.value.message
