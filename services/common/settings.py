"""The one reader of the environment: what an operator can set, from `BAOHUANG_*` variables or the command line."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from services.common.errors import SetupError
from services.common.ledger_urls import has_password, is_database_url
from services.common.options import format_option
from services.common.targets import format_address, parse_host
from services.common.tls import ServerTls

PREFIX = "BAOHUANG_"
LEDGER_FILE = "ledger.db"
"""The file of a ledger in the data directory of its platform."""

HIGHEST_PORT = 65_535
MATCH_SERVICES_LIMIT = 256
HEARTBEAT_LIMITS = (timedelta(milliseconds=100), timedelta(minutes=5))

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m)")
_SWITCH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_UNITS = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1), "m": timedelta(minutes=1)}


class LogLevel(StrEnum):
    """How much is written to the log files."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Registration(StrEnum):
    """Who may register bots."""

    LOCAL = "local"
    """Everybody while only this machine can reach the platform, otherwise operators."""
    OPEN = "open"
    """Everybody."""
    OPERATORS = "operators"
    """Operators."""


def usual_match_services(cores: int) -> int:
    """How many match services suit a machine: one for each core but one, which gateway, directors and Ray need.

    Two at least, so that play goes on while one is restarted; more than eight only for who asks for them, since a bot
    with few tables would not be at all of them, and every stream more makes the messages on the others emptier.
    """
    return min(max(cores - 1, 2), 8)


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the whole platform; each field is the variable `BAOHUANG_<FIELD>` and the option `--<field>`.

    Attributes:
        data_dir: where ledger and logs are kept; made if missing.
        ledger: the URL of the PostgreSQL database that holds the ledger, maybe with a password in it, given as it is or
            as @ and the file in which it is; empty: the ledger is a file in `data_dir`.
        host: the interface to listen on.
        advertised_host: the host that bots and Prometheus are told; empty: `host`.
        port: the gateway's gRPC port; 0: any free one.
        http_port: the gateway's HTTP port (page, service discovery, metrics); 0: any free one.
        match_services: how many match services to run, as a rule `usual_match_services`.
        match_port: the gRPC port of the first match service, the others follow; 0: any free ones.
        tls_server_cert: the certificate (PEM) with which everything that listens speaks TLS; none: no TLS.
        tls_server_key: its private key (PEM).
        tls_client_ca: who has no certificate of one of these authorities (PEM) is not let in; none: everybody is.
        tls_client_crl: lists of the certificates that these authorities have revoked (PEM); none: no certificate is.
        allow_plaintext: whether others than this machine may be served without TLS.
        registration: who may register bots.
        read_requires_token: whether tournaments, standings and bots are shown only to those who have a token.
        ray_address: the Ray cluster to join; empty: one on this machine, for this process.
        heartbeat: how often both sides of a stream say at least something.
        log_level: how much is written to the log files.
    """

    data_dir: Path = Path("data")
    ledger: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    advertised_host: str = ""
    port: int = 7400
    http_port: int = 7480
    match_services: int = field(default_factory=lambda: usual_match_services(len(os.sched_getaffinity(0))))
    match_port: int = 0
    tls_server_cert: Path | None = None
    tls_server_key: Path | None = None
    tls_client_ca: Path | None = None
    tls_client_crl: Path | None = None
    allow_plaintext: bool = False
    registration: Registration = Registration.LOCAL
    read_requires_token: bool = False
    ray_address: str = ""
    heartbeat: timedelta = timedelta(seconds=5)
    log_level: LogLevel = LogLevel.INFO

    @property
    def reachable_host(self) -> str:
        """The host by which others reach what listens on `host`."""
        return self.advertised_host or self.host

    @property
    def tls(self) -> ServerTls | None:
        """The files of TLS; None: everything is plain text."""
        if self.tls_server_cert is None or self.tls_server_key is None:
            return None
        return ServerTls(self.tls_server_cert, self.tls_server_key, self.tls_client_ca, self.tls_client_crl)

    @property
    def registration_is_open(self) -> bool:
        """Whether everybody may register bots."""
        if self.registration is Registration.LOCAL:
            return _is_loopback(self.host)
        return self.registration is Registration.OPEN

    @property
    def ledger_place(self) -> str:
        """The file or the URL of the ledger; not to be shown before `format_place` has seen to it."""
        return self.ledger or str(self.data_dir / LEDGER_FILE)

    @property
    def logs_dir(self) -> Path:
        """Where every process writes its log."""
        return self.data_dir / "logs"

    @property
    def address(self) -> str:
        """The address of the gateway that bots are told: `host:port`."""
        return format_address(self.reachable_host, self.port)


def load_settings(overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings: what `overrides` say (by field; None: not given), else the environment, else the defaults.

    Raises SetupError with one sentence that names the variable or option, its value, and what is allowed.
    """
    environ = os.environ if environ is None else environ
    overrides = overrides or {}
    unknown = [name for name in overrides if name not in _PARSERS]
    if unknown:
        raise SetupError(
            f"{format_option(unknown[0])} is no setting; the settings are {_listed(_PARSERS)}.", key=unknown[0]
        )
    _refuse_misspelt(environ)
    settings = Settings(**_values(overrides, environ, _PARSERS))
    _verify(settings)
    return settings


def load_ledger_settings(overrides: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """The settings that say where the ledger is, for commands that want nothing but that. Raises SetupError."""
    environ = os.environ if environ is None else environ
    return Settings(**_values(overrides, environ, ("data_dir", "ledger")))


def _values(overrides: Mapping[str, Any], environ: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    """What is said of some fields."""
    if has_password(str(overrides.get("ledger") or "")):
        raise SetupError(
            "--ledger has a password in it, which everybody on this machine can read in the list of processes: put the "
            "URL into the variable BAOHUANG_LEDGER, or into a file and say --ledger @FILE, or the password into the "
            "file that PGPASSFILE names.",
            key="ledger",
        )
    values: dict[str, Any] = {}
    for name in names:
        parse = _PARSERS[name]
        variable = PREFIX + name.upper()
        if overrides.get(name) is not None:
            values[name] = _parse(parse, format_option(name), overrides[name])
        elif environ.get(variable):
            values[name] = _parse(parse, variable, environ[variable])
    return values


def _parse(parse: Callable[[str], object], where: str, value: object) -> object:
    text = f"{value.total_seconds()}s" if isinstance(value, timedelta) else str(value).strip()
    try:
        return parse(text)
    except ValueError as error:
        shown = "what may be secret" if parse is _parse_ledger else repr(text)
        raise SetupError(f"{where} is {shown}, but must be {error}.", key=where) from None


def _parse_ledger(text: str) -> str:
    if text.startswith("@"):
        try:
            text = Path(text[1:]).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or "it is no text"
            raise ValueError(f"a URL, or @ and a file that can be read ({why})") from None
    if text and not is_database_url(text):
        raise ValueError(
            "the URL of a PostgreSQL database, such as postgresql://USER@HOST/DATABASE, or @ and a file that holds one"
        )
    return text


def _parse_path(text: str) -> Path:
    path, is_there, is_folder = _look_at(text)
    if not text or (is_there and not is_folder):
        raise ValueError("a folder, or a path where one can be made")
    if not text.isprintable():  # SQLite takes no name that is not UTF-8, and shows where it is by its name
        raise ValueError("a folder with a name that can be printed")
    return path


def _look_at(text: str) -> tuple[Path, bool, bool]:
    """A path, whether something is there, and whether that is a folder."""
    try:
        path = Path(text).expanduser()
        return path, path.exists(), path.is_dir()
    except OSError as error:  # a name that is too long, or a folder that may not be read
        raise ValueError(f"a path that can be looked at ({error.strerror})") from None
    except RuntimeError:
        raise ValueError("a path; whose home directory is meant is not known") from None


def _parse_optional_host(text: str) -> str:
    return parse_host(text) if text else ""


def _parse_optional_file(text: str) -> Path | None:
    path, _, is_folder = _look_at(text)
    if text and is_folder:
        raise ValueError("a file")
    return path if text else None


def _parse_switch(text: str) -> bool:
    try:
        return _SWITCH[text.lower()]
    except KeyError:
        raise ValueError("yes or no") from None


def _parse_number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(text)

    return parse


def _parse_heartbeat(text: str) -> timedelta:
    match = _DURATION.fullmatch(text)
    duration = float(match[1]) * _UNITS[match[2]] if match and len(text) < 20 else timedelta(0)
    low, high = HEARTBEAT_LIMITS
    if not low <= duration <= high:
        raise ValueError("a duration from 100ms to 5m, such as 500ms or 5s")
    return duration


def _parse_registration(text: str) -> Registration:
    try:
        return Registration(text.lower())
    except ValueError:
        raise ValueError(f"one of {_listed(Registration)}") from None


def _parse_level(text: str) -> LogLevel:
    try:
        return LogLevel(text.lower())
    except ValueError:
        raise ValueError(f"one of {_listed(LogLevel)}") from None


_PARSERS: dict[str, Callable[[str], object]] = {
    "data_dir": _parse_path,
    "ledger": _parse_ledger,
    "host": parse_host,
    "advertised_host": _parse_optional_host,
    "port": _parse_number(0, HIGHEST_PORT),
    "http_port": _parse_number(0, HIGHEST_PORT),
    "match_services": _parse_number(1, MATCH_SERVICES_LIMIT),
    "match_port": _parse_number(0, HIGHEST_PORT),
    "tls_server_cert": _parse_optional_file,
    "tls_server_key": _parse_optional_file,
    "tls_client_ca": _parse_optional_file,
    "tls_client_crl": _parse_optional_file,
    "allow_plaintext": _parse_switch,
    "registration": _parse_registration,
    "read_requires_token": _parse_switch,
    "ray_address": str,
    "heartbeat": _parse_heartbeat,
    "log_level": _parse_level,
}
assert list(_PARSERS) == [field.name for field in fields(Settings)]


def _verify(settings: Settings) -> None:
    """What no field can be blamed for alone."""
    if not settings.advertised_host and settings.host in ("0.0.0.0", "::"):
        raise SetupError(
            f"--host is {settings.host}, which is every interface and no address: name with --advertised-host the name "
            "or IP address under which bots reach this machine.",
            key="advertised_host",
        )
    verify_exposure(settings)
    _verify_ports(settings)


def _verify_ports(settings: Settings) -> None:
    """Every port is one, and serves one purpose."""
    last = settings.match_port + settings.match_services - 1
    if settings.match_port and last > HIGHEST_PORT:
        raise SetupError(
            f"--match-port is {settings.match_port}, too high for {settings.match_services} match services.",
            key="match_port",
        )
    ports = [("port", "--port", settings.port), ("http_port", "--http-port", settings.http_port)]
    if settings.match_port:
        where = "a port from --match-port on"
        ports += [("match_port", where, port) for port in range(settings.match_port, last + 1)]
    taken: dict[int, str] = {}
    for name, what, port in ports:
        if port and port in taken:
            sentence = f"{taken[port]} and {what} are both {port}, but every port serves one purpose."
            raise SetupError(sentence, key=name)
        taken[port] = what


def verify_exposure(settings: Settings) -> None:
    """Without TLS, for which all files must be named, nobody outside is served, unless that is wanted.

    Raises SetupError.
    """
    names = ("tls_server_cert", "tls_server_key", "tls_client_ca", "tls_client_crl")
    given = [name for name in names if getattr(settings, name) is not None]
    for needed, what in (("tls_server_cert", "certificate"), ("tls_server_key", "private key")):
        if given and needed not in given:
            raise SetupError(
                f"{format_option(given[0])} is given, but not {format_option(needed)}: TLS needs a certificate and "
                f"its private key, so name the file of the {what} as well.",
                key=needed,
            )
    if settings.tls_client_crl is not None and settings.tls_client_ca is None:
        raise SetupError(
            "--tls-client-crl is given, but not --tls-client-ca: certificates are looked at only where they are "
            "demanded, so name the file of the authority that has issued them as well.",
            key="tls_client_ca",
        )
    if given or settings.allow_plaintext or _is_loopback(settings.host):
        return
    raise SetupError(
        f"--host is {settings.host}, which others than this machine can reach, and without TLS whoever is on the way "
        "reads tokens and hands: give --tls-server-cert and --tls-server-key, or say --allow-plaintext if you trust "
        "the network between you and your bots.",
        key="host",
    )


def _is_loopback(host: str) -> bool:
    """Whether what listens there is reached from this machine only. Raises SetupError for a name nobody knows."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise SetupError(f"--host is {host}, a name that this machine does not know.", key="host") from None
    addresses = [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    return all((getattr(address, "ipv4_mapped", None) or address).is_loopback for address in addresses)


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """A misspelt variable is refused, since ignoring it would surprise; variables of other programs pass."""
    known = [PREFIX + name.upper() for name in _PARSERS]
    for variable in sorted(environ):
        if variable.startswith(PREFIX) and variable not in known:
            near = difflib.get_close_matches(variable, known, n=1, cutoff=0.9)
            if near:
                raise SetupError(f"{variable} is no setting; {near[0]} is meant, it seems.", key=variable)


def _listed(names: Mapping[str, Any] | type[StrEnum]) -> str:
    return ", ".join(names)
