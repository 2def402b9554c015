"""Logins: organisers, judges, sessions, and who guesses (F01)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.people import SESSION_S, BadPerson, NotLetIn, People, Role, TooManyTries
from hub.store import Store
from hub.throttle import FREE_ALWAYS, FREE_OF_ADDRESS, FREE_TRIES, LONGEST_WAIT_S, Throttle

HALL = "192.168.1.20"
PASSWORD = "pieza de esquina"


class Clock:
    """Both clocks of a hub, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def wall(self) -> int:
        return int(self.now_s * 1000)

    def hand(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    store = Store.open(tmp_path / "hub.sqlite3", clock.wall)
    yield store
    store.close()


@pytest.fixture
def people(store: Store, clock: Clock) -> People:
    people = People(store, wall=clock.wall, hand=clock.hand)
    people.set_up("Marta", PASSWORD)
    return people


def test_nobody_can_log_in_before_a_password_is_set(store: Store, clock: Clock) -> None:
    people = People(store, wall=clock.wall, hand=clock.hand)
    assert not people.has_organiser()
    for secret in ("", "admin", "password"):
        with pytest.raises(NotLetIn):
            people.log_in("Marta", secret, HALL)


def test_the_first_organiser_is_set_up_once(people: People) -> None:
    assert people.has_organiser()
    with pytest.raises(BadPerson, match="set_up_before"):
        people.set_up("Otra", PASSWORD)


def test_passwords_are_kept_as_argon2_hashes_and_tokens_as_digests(people: People, store: Store) -> None:
    token = people.log_in("Marta", PASSWORD, HALL)
    (row,) = store.people.all()
    assert row.secret is not None
    assert row.secret.startswith("$argon2id$")
    assert store.people.person_of(token, 0) is None


@pytest.mark.parametrize("name", ["Marta", "marta ", "MARTA"])
def test_a_name_is_known_as_phones_write_it(people: People, name: str) -> None:
    assert people.who(people.log_in(name, PASSWORD, HALL)) is not None


def test_accents_are_the_same_however_they_are_typed(people: People) -> None:
    _, pin = people.let_in("Iñigo", by="Marta")
    token = people.log_in("In\u0303igo", pin, HALL)
    judge = people.who(token)
    assert judge is not None
    assert judge.role is Role.JUDGE


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("  ", PASSWORD, "name_empty"),
        ("x" * 81, PASSWORD, "name_bad"),
        ("a\0b", PASSWORD, "name_bad"),
        ("Ana", "corta", "password_short"),
        ("Ana", "x" * 201, "password_long"),
    ],
)
def test_a_name_or_password_that_cannot_be_taken_is_told(
    store: Store, clock: Clock, name: str, password: str, code: str
) -> None:
    with pytest.raises(BadPerson, match=code):
        People(store, wall=clock.wall, hand=clock.hand).set_up(name, password)


def test_a_session_survives_a_restart_of_the_hub_and_ends_after_a_day(
    people: People, tmp_path: Path, clock: Clock
) -> None:
    token = people.log_in("Marta", PASSWORD, HALL)
    store = Store.open(tmp_path / "hub.sqlite3", clock.wall)
    again = People(store, wall=clock.wall, hand=clock.hand)
    clock.now_s += SESSION_S - 1
    assert again.who(token) is not None
    clock.now_s += 2
    assert again.who(token) is None
    store.close()


def test_who_logs_out_is_nobody(people: People) -> None:
    token = people.log_in("Marta", PASSWORD, HALL)
    people.log_out(token)
    assert people.who(token) is None
    assert people.who("") is None


def test_another_password_ends_the_sessions_on_all_devices(people: People) -> None:
    tokens = [people.log_in("Marta", PASSWORD, HALL) for _ in range(2)]
    marta = people.who(tokens[0])
    assert marta is not None
    people.change_password(marta, PASSWORD, "otra contraseña", HALL)
    assert [people.who(token) for token in tokens] == [None, None]
    with pytest.raises(NotLetIn):
        people.log_in("Marta", PASSWORD, HALL)
    assert people.log_in("Marta", "otra contraseña", HALL)


def test_another_password_needs_the_old_one(people: People) -> None:
    marta = people.who(people.log_in("Marta", PASSWORD, HALL))
    assert marta is not None
    with pytest.raises(NotLetIn):
        people.change_password(marta, "no lo sé bien", "otra contraseña", HALL)


def test_a_password_can_be_set_at_the_hubs_keyboard_by_who_forgot_it(people: People) -> None:
    token = people.log_in("Marta", PASSWORD, HALL)
    people.force_password("Marta", "otra contraseña")
    assert people.who(token) is None
    assert people.log_in("Marta", "otra contraseña", HALL)


def test_a_dismissed_judge_is_logged_out_and_stays_out_until_given_another_pin(people: People) -> None:
    judge, pin = people.let_in("Luis", by="Marta")
    token = people.log_in("Luis", pin, HALL)
    people.dismiss(judge.id, by="Marta")
    assert people.who(token) is None
    with pytest.raises(NotLetIn):
        people.log_in("Luis", pin, HALL)
    assert [j.dismissed for j in people.judges()] == [True]
    _, other = people.renew_pin(judge.id, by="Marta")
    assert people.log_in("Luis", other, HALL)
    with pytest.raises(BadPerson, match="name_taken"):
        people.let_in("luis", by="Marta")


def test_an_organiser_is_no_judge_to_be_dismissed(people: People, store: Store) -> None:
    with pytest.raises(BadPerson, match="nobody"):
        people.dismiss(store.people.all()[0].id, by="Luis")


def test_ten_wrong_tries_slow_down_and_only_the_address_they_came_from(people: People, clock: Clock) -> None:
    for _ in range(FREE_TRIES):
        with pytest.raises(NotLetIn):
            people.log_in("Marta", "adivina", HALL)
    with pytest.raises(TooManyTries) as slowed:
        people.log_in("Marta", PASSWORD, HALL)
    assert people.log_in("Marta", PASSWORD, "192.168.1.21")
    clock.now_s += slowed.value.wait_s
    assert people.log_in("Marta", PASSWORD, HALL)


def test_who_has_a_login_cannot_guess_anothers_faster(people: People, store: Store) -> None:
    _, pin = people.let_in("Luis", by="Marta")
    for _ in range(FREE_TRIES):
        with pytest.raises(NotLetIn):
            people.log_in("marta ", "adivina", HALL)
        people.log_in("Luis", pin, HALL)
    with pytest.raises(TooManyTries):
        people.log_in("Marta", "adivina", HALL)
    assert ("slowed_down", f"{HALL} · Marta") in [(d.deed, d.about) for d in store.audit.deeds(None, 50)]


def test_who_guesses_locks_nobody_else_behind_the_same_address_out() -> None:
    throttle = Throttle()
    for number in range(3 * FREE_OF_ADDRESS):
        throttle.wrong(HALL, f"n{number % 20}", 0.0)
    for _ in range(FREE_ALWAYS - 1):
        throttle.wrong(HALL, "luis", 0.0)
    assert throttle.wait_s(HALL, "luis", 0.0) == 0
    assert throttle.wait_s(HALL, "ana", 0.0) == 0
    throttle.wrong(HALL, "luis", 0.0)
    assert throttle.wait_s(HALL, "luis", 0.0) == LONGEST_WAIT_S
    assert throttle.wait_s("192.168.1.21", "luis", 0.0) == 0


def test_many_wrong_tries_are_noted_and_flood_no_audit() -> None:
    throttle = Throttle()
    noted = [number for number in range(1, 101) if throttle.wrong(HALL, "marta", 0.0)]
    assert noted == [10, 20, 40, 50, 80, 100]


def test_the_wait_doubles_up_to_a_minute_and_is_forgotten_in_time() -> None:
    throttle, waits = Throttle(), []
    for _ in range(FREE_TRIES):
        assert throttle.wait_s(HALL, "m", 0.0) == 0
        throttle.wrong(HALL, "m", 0.0)
    for _ in range(8):
        waits.append(throttle.wait_s(HALL, "m", 0.0))
        throttle.wrong(HALL, "m", 0.0)
    assert waits[:3] == [1, 2, 4]
    assert waits[-1] == LONGEST_WAIT_S
    assert throttle.wait_s(HALL, "m", 10_000.0) == 0
    throttle.wrong(HALL, "m", 10_000.0)
    assert throttle.wait_s(HALL, "m", 10_000.0) == 0


def test_a_visitor_with_many_ipv6_addresses_is_one_visitor() -> None:
    throttle = Throttle()
    for number in range(FREE_TRIES):
        throttle.wrong(f"2001:db8::{number}", "m", 0.0)
    assert throttle.wait_s("2001:db8::ffff", "m", 0.0) > 0
    assert throttle.wait_s("2001:db8:0:1::1", "m", 0.0) == 0
    assert throttle.wait_s("testclient", "m", 0.0) == 0


def test_what_people_do_to_the_hub_is_noted_with_who_and_when(people: People, store: Store) -> None:
    judge, pin = people.let_in("Luis", by="Marta")
    people.log_in("Luis", pin, HALL)
    people.dismiss(judge.id, by="Marta")
    told = [(deed.by, deed.deed, deed.about) for deed in store.audit.deeds(None, 10)]
    assert told == [
        ("Marta", "judge_dismissed", "Luis"),
        ("Luis", "logged_in", HALL),
        ("Marta", "judge_let_in", "Luis"),
        ("Marta", "set_up", "Marta"),
    ]
