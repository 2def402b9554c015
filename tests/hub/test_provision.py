"""Letting table timers in: certificates, passwords and rules, on a real mosquitto."""

from __future__ import annotations

import queue
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from device.config import load_settings
from hub.broker_files import CERTIFIED_NAME, BrokerFolder
from hub.certificates import make_ca, make_server
from hub.cli import main
from hub.provision import BundleWishes, make_bundle
from shared.broker import (
    BrokerSettings,
    Connected,
    Disconnected,
    PublishRefused,
    Received,
    Tls,
)
from shared.checked_toml import BadFile
from shared.mqtt import MqttClient
from tests.brokers import MOSQUITTO, answers, free_port
from tests.waiting import wait_until

HUB_PASSWORD = "hub's own"
DEADLINE_S = 30.0


class Broker:
    """A mosquitto that runs with the files a hub was provisioned with."""

    def __init__(self, folder: Path) -> None:
        self.files = BrokerFolder(folder)
        self.tls_port, self.local_port = free_port(), free_port()
        self.files.set_up("puzzle/1", HUB_PASSWORD, (), self.tls_port, self.local_port)
        self._config = folder / "mosquitto.conf"
        # as root in a test mosquitto would become a user who may not read the test's folder
        self._config.write_text(self._config.read_text() + "user root\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self._config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(
            lambda: (answers(self.tls_port) and answers(self.local_port)) or process.poll() is not None
        )
        assert process.poll() is None, f"mosquitto ended with {process.returncode}"

    def reload(self) -> None:
        """Passwords and rules are read again, as `systemctl reload` has it done."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


class Client:
    """One who connects, or tries to."""

    def __init__(self, settings: BrokerSettings, *topics: str) -> None:
        self.reports: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._client = MqttClient(settings, [(topic, 1) for topic in topics], self.reports)

    def __enter__(self) -> Client:
        self._client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._client.stop()

    def next(self, *kinds: type[Any]) -> Any:
        """The next report of one of these kinds."""
        while True:
            report = self.reports.get(timeout=DEADLINE_S)
            if isinstance(report, kinds):
                return report

    def say(self, topic: str, payload: bytes = b"x") -> None:
        assert self._client.publish(topic, payload, 1, False)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = Broker(tmp_path_factory.mktemp("broker"))
    for user in ("t01-aaaa", "t02-bbbb"):
        broker.files.set_password(user, f"password of {user}")
    broker.start()
    yield broker
    broker.stop()


def table(broker: Broker, device: str, **changes: Any) -> BrokerSettings:
    """How a provisioned table connects."""
    values: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": broker.tls_port,
        "client_id": device,
        "username": device,
        "password": f"password of {device}",
        "tls": Tls(broker.files.ca_file, certified_name=CERTIFIED_NAME),
    }
    return BrokerSettings(**(values | changes))


def hub(broker: Broker) -> BrokerSettings:
    return BrokerSettings("127.0.0.1", broker.local_port, "hub", username="hub", password=HUB_PASSWORD)


def test_a_table_speaks_to_the_hub_and_hears_what_is_said_to_it(broker: Broker) -> None:
    with (
        Client(hub(broker), "puzzle/1/+/up/+") as ears,
        Client(table(broker, "t01-aaaa"), "puzzle/1/t01-aaaa/down/+", "puzzle/1/all/+") as mine,
    ):
        ears.next(Connected)
        mine.next(Connected)
        mine.say("puzzle/1/t01-aaaa/up/event")
        assert ears.next(Received).topic == "puzzle/1/t01-aaaa/up/event"
        ears.say("puzzle/1/t01-aaaa/down/ack")
        assert mine.next(Received).topic == "puzzle/1/t01-aaaa/down/ack"
        ears.say("puzzle/1/all/start")
        assert mine.next(Received).topic == "puzzle/1/all/start"


@pytest.mark.parametrize(
    "topic",
    [
        "puzzle/1/t02-bbbb/up/event",
        "puzzle/1/t02-bbbb/down/ack",
        "puzzle/1/t01-aaaa/down/ack",
        "puzzle/1/all/start",
        "puzzle/1/all/hub",
        "puzzle/1/standings/adulto",
        "elsewhere",
    ],
)
def test_a_table_cannot_speak_as_another_one_or_as_the_hub(broker: Broker, topic: str) -> None:
    """D09."""
    with Client(hub(broker), "#") as ears, Client(table(broker, "t01-aaaa")) as mine:
        ears.next(Connected)
        mine.next(Connected)
        mine.say(topic)
        assert "Not authorized" in mine.next(PublishRefused).reason
        mine.say("puzzle/1/t01-aaaa/up/event")
        assert ears.next(Received).topic == "puzzle/1/t01-aaaa/up/event"


def test_a_table_cannot_hear_what_another_one_says_or_is_told(broker: Broker) -> None:
    """D09."""
    with (
        Client(hub(broker), "puzzle/1/+/up/+") as ears,
        Client(table(broker, "t01-aaaa"), "puzzle/1/+/up/+", "puzzle/1/+/down/+", "#") as mine,
        Client(table(broker, "t02-bbbb")) as other,
    ):
        for client in (ears, mine, other):
            client.next(Connected)
        other.say("puzzle/1/t02-bbbb/up/event")
        ears.next(Received)
        ears.say("puzzle/1/t02-bbbb/down/plan")
        ears.say("puzzle/1/t01-aaaa/down/plan")
        assert mine.next(Received).topic == "puzzle/1/t01-aaaa/down/plan"


def test_who_was_let_in_to_listen_hears_standings_and_speaks_for_no_table(broker: Broker) -> None:
    broker.files.set_password("reader_screen", "password of reader_screen")
    broker.reload()
    with (
        Client(hub(broker), "puzzle/1/+/up/+") as ears,
        Client(table(broker, "reader_screen"), "puzzle/1/standings/#", "puzzle/1/+/up/+") as screen,
    ):
        ears.next(Connected)
        screen.next(Connected)
        ears.say("puzzle/1/t01-aaaa/up/event")
        ears.next(Received)
        ears.say("puzzle/1/standings/adulto")
        assert screen.next(Received).topic == "puzzle/1/standings/adulto"
        screen.say("puzzle/1/t01-aaaa/up/event")
        assert "Not authorized" in screen.next(PublishRefused).reason


def test_a_table_that_calls_itself_like_another_one_does_not_push_it_out(broker: Broker) -> None:
    with Client(table(broker, "t02-bbbb")) as victim:
        victim.next(Connected)
        with Client(table(broker, "t01-aaaa", client_id="t02-bbbb")) as mine:
            mine.next(Connected)
            mine.say("puzzle/1/t01-aaaa/up/event")
            victim.say("puzzle/1/t02-bbbb/up/event")
            with pytest.raises(queue.Empty):
                victim.reports.get(timeout=0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"username": None, "password": None},
        {"password": "guessed"},
        {"username": "t03-cccc"},
        {"username": "hub"},
        {"username": "", "password": ""},
    ],
)
def test_who_has_no_password_is_refused(broker: Broker, changes: dict[str, Any]) -> None:
    """D09, F01."""
    with Client(table(broker, "t01-aaaa", **changes)) as stranger:
        assert "uthor" in stranger.next(Disconnected, Connected).reason


def test_nobody_connects_from_the_network_without_encryption(broker: Broker) -> None:
    """D09."""
    with Client(table(broker, "t01-aaaa", tls=None)) as plain:
        assert isinstance(plain.next(Disconnected, Connected), Disconnected)


def test_a_broker_with_a_certificate_of_another_authority_is_not_trusted(
    broker: Broker, tmp_path: Path
) -> None:
    other = tmp_path / "ca.crt"
    other.write_bytes(make_ca().certificate)
    tls = Tls(other, certified_name=CERTIFIED_NAME)
    with Client(table(broker, "t01-aaaa", tls=tls)) as mine:
        assert "CERTIFICATE_VERIFY_FAILED" in mine.next(Disconnected, Connected).reason


def test_a_certificate_of_another_name_is_not_trusted(broker: Broker) -> None:
    tls = Tls(broker.files.ca_file, certified_name="somebody-else")
    with Client(table(broker, "t01-aaaa", tls=tls)) as mine:
        assert "CERTIFICATE_VERIFY_FAILED" in mine.next(Disconnected, Connected).reason


def test_a_message_larger_than_any_of_ours_is_not_taken(broker: Broker) -> None:
    with Client(table(broker, "t01-aaaa")) as mine:
        mine.next(Connected)
        mine.say("puzzle/1/t01-aaaa/up/event", b"x" * 80_000)
        assert isinstance(mine.next(Disconnected, PublishRefused), Disconnected | PublishRefused)


# Certificates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("year", [1970, 2000, 2026, 2037])
def test_a_table_trusts_its_hub_whatever_year_its_clock_shows(year: int) -> None:
    """D08."""
    ca = make_ca()
    server = make_server(ca, [CERTIFIED_NAME, "192.168.1.5"])
    store = Store([x509.load_pem_x509_certificate(ca.certificate)])
    shown = datetime(year, 1, 1, 0, 0, 30, tzinfo=UTC)
    verifier = PolicyBuilder().store(store).time(shown).build_server_verifier(x509.DNSName(CERTIFIED_NAME))
    assert verifier.verify(x509.load_pem_x509_certificate(server.certificate), [])


def test_certificates_end_before_the_clocks_of_small_machines() -> None:
    ca = make_ca()
    for made in (ca, make_server(ca, [CERTIFIED_NAME])):
        certificate = x509.load_pem_x509_certificate(made.certificate)
        assert certificate.not_valid_before_utc == datetime(1970, 1, 1, tzinfo=UTC)
        assert certificate.not_valid_after_utc.timestamp() < 2**31


# Files ----------------------------------------------------------------------------------------------


def test_tables_that_were_let_in_stay_so_when_the_hub_is_provisioned_again(tmp_path: Path) -> None:
    files = BrokerFolder(tmp_path / "broker")
    assert not files.is_set_up()
    files.set_up("puzzle/1", HUB_PASSWORD)
    files.set_password("t01-aaaa", "p")
    before = files.ca_file.read_bytes(), files._passwords.read_text().splitlines()[-1]
    files.set_up("puzzle/1", "another", ("10.0.0.5",))
    assert files.users() == ["hub", "t01-aaaa"]
    assert (files.ca_file.read_bytes(), files._passwords.read_text().splitlines()[-1]) == before
    assert (tmp_path / "broker" / "ca.key").stat().st_mode & 0o077 == 0
    assert (tmp_path / "broker" / "passwd").stat().st_mode & 0o007 == 0


def test_a_bundle_is_all_that_a_table_needs(broker: Broker, tmp_path: Path) -> None:
    wishes = BundleWishes("127.0.0.1", "en", "castrillo-2023", broker.tls_port)
    bundle = make_bundle(broker.files, 7, tmp_path, wishes)
    settings = load_settings(bundle.folder / "table-timer.toml")
    assert (settings.device, settings.table, settings.language) == (bundle.device, 7, "en")
    assert bundle.device.startswith("t07-")
    assert settings.hub.tls() == Tls(bundle.folder / "ca.crt", certified_name=CERTIFIED_NAME)
    assert (bundle.folder / "table-timer.toml").stat().st_mode & 0o077 == 0
    link = BrokerSettings(
        settings.hub.host,
        settings.hub.port,
        settings.device,
        username=settings.hub.username,
        password=settings.hub.password,
        tls=settings.hub.tls(),
    )
    assert broker._process is not None
    broker._process.send_signal(1)  # SIGHUP: read the passwords again
    with Client(link) as mine:
        assert mine.next(Connected)


def test_six_bundles_even_for_one_table_are_six_names_and_six_passwords(
    broker: Broker, tmp_path: Path
) -> None:
    """E09."""
    wishes = BundleWishes("127.0.0.1", "en", "castrillo-2023", broker.tls_port)
    folders = [make_bundle(broker.files, 7, tmp_path, wishes).folder for _ in range(6)]
    settings = [load_settings(folder / "table-timer.toml") for folder in folders]
    assert len({told.device for told in settings}) == 6
    assert len({told.hub.password for told in settings}) == 6


def test_the_broker_listens_wherever_the_network_is(broker: Broker) -> None:
    """D09: bound to no address, so that a cable that comes late and another address do not matter."""
    config = (broker.files.folder / "mosquitto.conf").read_text()
    assert re.findall(r"^listener (.*)$", config, re.M) == [
        f"{broker.local_port} 127.0.0.1",
        str(broker.tls_port),
    ]
    assert "bind_" not in config


def test_a_table_whose_authority_is_not_on_the_card_says_so(tmp_path: Path) -> None:
    settings = tmp_path / "table-timer.toml"
    settings.write_text('device = "t1"\ntable = 1\n[hub]\nca = "ca.crt"\n')
    with pytest.raises(BadFile, match=r"hub\.ca: .*ca\.crt is not there"):
        load_settings(settings)


# Commands -------------------------------------------------------------------------------------------


@pytest.fixture
def hub_toml(tmp_path: Path) -> Path:
    path = tmp_path / "hub.toml"
    path.write_text(f'rulebook = "castrillo-2023"\ndata_dir = "{tmp_path}/data"\n')
    return path


def typed(*words: object) -> str:
    """What a command says; it must succeed."""
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_commands_lead_from_nothing_to_a_replaced_device(hub_toml: Path, tmp_path: Path) -> None:
    with_hub = ("--config", hub_toml)
    failed = CliRunner().invoke(main, ["provision", "table", "3", *map(str, with_hub)])
    assert "first: timer-hub provision hub" in failed.output
    assert 'username = "hub"' in typed("provision", "hub", *with_hub)
    typed("provision", "table", 3, "--out", tmp_path / "cards", "--host", "10.0.0.5", *with_hub)
    (first,) = (tmp_path / "cards").iterdir()
    assert load_settings(first / "table-timer.toml").hub.host == "10.0.0.5"
    failed = CliRunner().invoke(main, ["replace-device", "3", *map(str, with_hub)])
    assert "no hub has run" in failed.output
    again = typed("provision", "table", 3, "--out", tmp_path / "again", *with_hub)
    (twice,) = (tmp_path / "again").iterdir()
    assert f"with passwords that are still good: {first.name}\n" in again
    assert f"sudo timer-hub provision shut-out {first.name}" in again
    assert "may connect no more" in typed("provision", "shut-out", twice.name, *with_hub)
    for nobody in (twice.name, "hub"):
        failed = CliRunner().invoke(main, ["provision", "shut-out", nobody, *map(str, with_hub)])
        assert (failed.exit_code, "no table timer has a password" in failed.output) == (1, True)

    listener = typed("provision", "reader", "screen1", *with_hub)
    assert re.search(r"user reader_screen1, password \S{20,}, port 8883", listener)
    assert "topic puzzle/1/standings/#" in listener
    failed = CliRunner().invoke(main, ["provision", "reader", "a b", *map(str, with_hub)])
    assert "write up to 20 letters and digits" in failed.output

    typed("password", "Marta", "--password", "pieza de esquina", *with_hub)
    typed("seat", 3, first.name, *with_hub)
    said = typed("replace-device", 3, "--shut-out", "--out", tmp_path / "cards", *with_hub)
    assert f"{first.name} may connect no more" in said
    (second,) = set((tmp_path / "cards").iterdir()) - {first}
    assert BrokerFolder(tmp_path / "broker").users() == ["hub", "reader_screen1", second.name]
    assert f"not {second.name}" in typed("seat", 3, "t99", *with_hub)


def test_a_password_that_is_too_short_is_not_set(hub_toml: Path) -> None:
    words = ["password", "Marta", "--password", "corta", "--config", str(hub_toml)]
    failed = CliRunner().invoke(main, words)
    assert failed.exit_code == 1
    assert "at least 8 letters" in failed.output
