"""Every ruling there is, given by who may, from the page where it stands; grave ones after a look (A11, A21).

Long because each ruling has its page here.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.ruling_kinds import KINDS
from hub.store import PlanRow
from hub.web.ruling_forms import seconds_typed
from shared.core.events import RULINGS, EventType
from tests.builders import TableLog
from tests.hub.web_office import ORGANISER, PASSWORD, Hall, a_run, confirm, fields_of, fill_in, hall, send

RUN = "/judge/run?id=t01%2Fr1"
OFFICE = "/organiser"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    """Ana and Bea, equal in first place; Carla, who has not come."""
    with hall(tmp_path) as here:
        names = {"e1": "Ana G.", "e2": "Bea R.", "e3": "Carla T."}
        here.plans([PlanRow("1", 1, n, e, "adulto", name) for n, (e, name) in enumerate(names.items(), 1)])
        here.hears(a_run())
        here.hears(a_run(2, device="t02", entrant="e2"))
        here.office.people.set_up(ORGANISER, PASSWORD)
        yield here


def adults(hub: Hall) -> dict[str, dict[str, Any]]:
    """The lines of the standings by entrant."""
    lines = next(c for c in hub.view.standings()["categories"] if c["id"] == "adulto")["standings"]
    return {line["entrant"]: line for line in lines}


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def last(hub: Hall) -> Any:
    *_, event = hub.store.events_in_order()
    return event


def test_there_is_a_form_for_every_ruling_that_the_rules_know() -> None:
    assert set(KINDS) == RULINGS


# On a run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "number", "what"),
    [
        ("penalty_given", "1:30", {"official": "44:51", "rank": 2}),
        ("time_set", "50:00", {"official": "50:00", "marks": ["manual"], "rank": 2}),
        ("time_granted", "1:00", {"official": "42:21", "rank": 1}),
        ("disqualified", "", {"status": "DSQ", "rank": None}),
        ("did_not_finish", "", {"status": "DNF", "rank": None}),
        ("run_voided", "", {"status": "VOID", "rank": None}),
        ("run_reopened", "", {"status": "FINISHED", "marks": ["unaccepted"], "rank": 1}),
        ("incident_noted", "", {"official": "43:21", "rank": 1}),
        ("puzzle_pieces_set", "199", {"official": "43:21", "rank": 1}),
    ],
)
def test_a_judge_gives_every_ruling_on_a_run(hub: Hall, kind: str, number: str, what: dict[str, Any]) -> None:
    judge = hub.judge()
    answer = fill_in(judge, RUN, kind, number=number, reason="visto en la mesa")
    if KINDS[EventType(kind)].grave:
        assert adults(hub)["e1"]["official"] == "43:21", "only shown so far"
        answer = confirm(judge, RUN, answer)
    assert answer.status_code == 303, answer.text
    assert {name: adults(hub)["e1"][name] for name in what} == what
    assert (last(hub).data["by"], last(hub).data["reason"]) == ("Luis", "visto en la mesa")


def test_pieces_of_a_puzzle_that_came_short_bound_the_count(hub: Hall) -> None:
    log = TableLog("adulto", "t03/r", log="t03-l", device="t03", boot="b3", entrant="e3")
    hub.hears(log.start(0, table=3).count(8_000_000, 10).events)
    judge, path = hub.judge(), "/judge/run?id=t03%2Fr"
    assert fill_in(judge, path, "puzzle_pieces_set", number="150", reason="faltan").status_code == 303
    refused = fill_in(judge, path, "pieces_corrected", number="151", reason="recuento")
    assert refused.status_code == 400
    assert "el puzle tiene menos piezas" in refused.text
    assert fill_in(judge, path, "pieces_corrected", number="150", reason="recuento").status_code == 303
    assert adults(hub)["e3"]["pieces"] == 150


def test_a_grave_ruling_shows_who_moves_where_before_it_is_given(hub: Hall) -> None:
    organiser = hub.organiser()
    fill_in(organiser, RUN, "penalty_given", number="10", reason="r")
    shown = text_of(fill_in(organiser, "/judge/run?id=t02%2Fr2", "disqualified", reason="abrió la caja").text)
    assert "descalificado: abrió la caja" in shown
    assert "Bea R. 1.º puesto · 43:21 descalificado · 43:21" in shown
    assert "Ana G. 2.º puesto · 43:31 1.º puesto · 43:31" in shown
    assert adults(hub)["e2"]["status"] == "FINISHED"


def test_who_confirms_after_something_changed_is_told_and_nothing_is_ruled(hub: Hall) -> None:
    organiser, luis = hub.organiser(), hub.judge()
    shown = fill_in(organiser, RUN, "disqualified", reason="abrió la caja")
    fill_in(luis, RUN, "penalty_given", number="10", reason="r")
    assert confirm(organiser, RUN, shown).status_code == 409
    assert adults(hub)["e1"]["status"] == "FINISHED"


def test_only_an_organiser_gives_a_run_to_another_entrant_or_table(hub: Hall) -> None:
    judge, organiser = hub.judge(), hub.organiser()
    assert 'value="run_reassigned"' not in judge.get(RUN).text
    seen = fields_of(judge.get(RUN).text, "penalty_given")
    forged = judge.post(
        RUN, data={**seen, "kind": "run_reassigned", "entrant": "e3", "reason": "r", "sure": "1"}
    )
    assert forged.status_code == 400
    assert "solo lo decide la organización" in forged.text
    shown = fill_in(organiser, RUN, "run_reassigned", entrant="e3", table="7", reason="se sentó mal")
    assert "mesa 1 · \u2068Ana G.\u2069" in text_of(shown.text)
    assert "mesa 7 · \u2068Carla T.\u2069" in text_of(shown.text)
    assert confirm(organiser, RUN, shown).status_code == 303
    assert adults(hub)["e3"]["table"] == 7
    assert "e1" not in adults(hub)


@pytest.mark.parametrize(
    ("form", "fields", "words"),
    [
        ("penalty_given", {"number": "mucho"}, "no se entiende"),
        ("penalty_given", {"number": "30", "reason": " "}, "escriba el motivo"),
        ("time_granted", {"number": "0"}, "no se entiende"),
        ("time_granted", {"number": "-5"}, "no se entiende"),
        ("pieces_corrected", {"number": "12"}, "está completa"),
        ("puzzle_pieces_set", {"number": "0"}, "no se entiende"),
        ("run_reassigned", {}, "otro participante, otra mesa"),
        ("run_reassigned", {"table": "1000"}, "un número de 1 a 999"),
        ("run_reassigned", {"entrant": "e77"}, "un participante del plan"),
    ],
)
def test_bad_input_is_told_beside_its_field_and_what_was_typed_stays(
    hub: Hall, form: str, fields: dict[str, str], words: str
) -> None:
    before = len(list(hub.store.events_in_order()))
    answer = fill_in(hub.organiser(), RUN, form, **{"reason": "porque sí", **fields})
    assert answer.status_code == 400
    beside = re.findall(r'<p class="wrong">([^<]+)</p>', answer.text)
    assert len(beside) == 1
    assert words in beside[0]
    for value in fields.values():
        if value.strip() and value != "e77":
            assert f'value="{value}"' in answer.text
    assert len(list(hub.store.events_in_order())) == before


def test_a_run_that_is_not_closed_cannot_be_reopened(hub: Hall) -> None:
    organiser = hub.organiser()
    confirm(organiser, RUN, fill_in(organiser, RUN, "run_reopened", reason="faltaba una"))
    again = fill_in(organiser, RUN, "run_reopened", reason="otra vez")
    assert again.status_code == 400
    assert "no está aceptada ni contada" in again.text


# On more than one run -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [OFFICE, "/audit", "/audit.csv", "/audit.jsonl", "/people"])
def test_the_organisers_pages_are_closed_to_judges(hub: Hall, path: str) -> None:
    assert hub.judge().get(path).status_code == 403


def test_time_is_granted_to_a_whole_heat_and_taken_back(hub: Hall) -> None:
    for device, n, entrant in (("t05", 5, "e5"), ("t06", 6, "e6")):
        log = TableLog(
            "adulto", f"{device}/r", log=f"{device}-l", device=device, boot=device, entrant=entrant
        )
        log.start(0, table=n, heat="2").finish(2_721_000).accept(2_722_000)
        hub.hears(log.events)
    organiser = hub.organiser()
    shown = fill_in(organiser, OFFICE, "heat-2", number="5:00", reason="alarma de incendios")
    assert text_of(shown.text).count("38:21") == 2
    assert confirm(organiser, OFFICE, shown).status_code == 303
    assert [adults(hub)[e]["official"] for e in ("e5", "e6", "e1")] == ["38:21", "38:21", "43:21"]
    assert "+5:00" in text_of(organiser.get(OFFICE).text)
    assert fill_in(organiser, OFFICE, f"revoke-{last(hub).seq}", reason="no hubo alarma").status_code == 303
    assert adults(hub)["e5"]["official"] == "43:21"


def test_who_did_not_come_is_chosen_from_the_plan(hub: Hall) -> None:
    organiser = hub.organiser()
    page = organiser.get(OFFICE).text
    offered = re.findall(r'<option value="([0-9a-f]+ adulto (\w+))"', page)
    assert [entrant for _, entrant in offered] == ["e3"]
    shown = fill_in(organiser, OFFICE, "absent", who=offered[0][0], reason="no ha venido")
    assert "Carla T. sin línea no presentado" in text_of(shown.text)
    assert confirm(organiser, OFFICE, shown).status_code == 303
    assert adults(hub)["e3"]["status"] == "DNS"
    assert fill_in(organiser, OFFICE, f"revoke-{last(hub).seq}", reason="ha llegado").status_code == 303
    assert "e3" not in adults(hub)


def test_who_comes_while_being_said_absent_is_not_ruled_absent(hub: Hall) -> None:
    organiser = hub.organiser()
    who = re.findall(r'<option value="([0-9a-f]+ adulto e3)"', organiser.get(OFFICE).text)[0]
    hub.hears(a_run(3, device="t03", entrant="e3"))
    page = organiser.get("/people").text
    data = {**fields_of(page, "let_in"), "kind": "did_not_start", "who": who, "reason": "r", "sure": "1"}
    assert organiser.post(OFFICE, data=data).status_code == 409
    assert adults(hub)["e3"]["status"] == "FINISHED"


def test_a_tie_for_first_place_asks_and_is_broken_by_the_order_of_the_play_off(hub: Hall) -> None:
    organiser = hub.organiser()
    assert "Empate en el primer puesto" in text_of(organiser.get(OFFICE).text)
    twice = fill_in(organiser, OFFICE, "tie-adulto-1", place1="e2", place2="e2", reason="desempate")
    assert "cada uno de los empatados" in twice.text
    shown = fill_in(organiser, OFFICE, "tie-adulto-1", place1="e2", place2="e1", reason="desempate")
    assert "Ana G. 1.º puesto · 43:21 2.º puesto · 43:21" in text_of(shown.text)
    assert confirm(organiser, OFFICE, shown).status_code == 303
    assert [(e, adults(hub)[e]["rank"]) for e in ("e2", "e1")] == [("e2", 1), ("e1", 2)]
    assert "Empate en el primer puesto" not in text_of(organiser.get(OFFICE).text)


def test_a_tie_that_is_none_any_more_is_not_broken(hub: Hall) -> None:
    organiser = hub.organiser()
    shown = fill_in(organiser, OFFICE, "tie-adulto-1", place1="e2", place2="e1", reason="desempate")
    fill_in(organiser, RUN, "penalty_given", number="10", reason="r")
    assert confirm(organiser, OFFICE, shown).status_code == 409
    assert last(hub).type == EventType.PENALTY_GIVEN


def test_an_incident_waits_for_an_answer_that_only_an_organiser_gives(hub: Hall) -> None:
    judge, organiser = hub.judge(), hub.organiser()
    fill_in(judge, RUN, "incident_noted", reason="la caja estaba abierta")
    number = last(hub).seq
    assert "la caja estaba abierta" in organiser.get(OFFICE).text
    forged = {**fields_of(judge.get(RUN).text, "incident_noted"), "answers": str(number), "reason": "nada"}
    assert judge.post(RUN, data=forged).status_code == 400
    assert fill_in(organiser, OFFICE, f"answer-{number}", reason="se repite la prueba").status_code == 303
    assert last(hub).data["state"] == "answered"
    assert last(hub).run == "t01/r1"
    assert "No hay incidencias abiertas" in organiser.get(OFFICE).text
    assert "se repite la prueba" in judge.get(RUN).text


def test_an_incident_of_the_hall_concerns_no_run(hub: Hall) -> None:
    organiser = hub.organiser()
    assert fill_in(organiser, OFFICE, "incident", reason="se fue la luz").status_code == 303
    assert last(hub).run is None
    assert fill_in(organiser, OFFICE, f"answer-{last(hub).seq}", reason="volvió").status_code == 303
    assert "No hay incidencias abiertas" in organiser.get(OFFICE).text


def test_a_judge_takes_back_what_judges_rule_and_nothing_else(hub: Hall) -> None:
    judge, organiser = hub.judge(), hub.organiser()
    fill_in(organiser, RUN, "penalty_given", number="10", reason="r")
    penalty = last(hub).seq
    shown = fill_in(organiser, RUN, "run_reassigned", table="9", reason="mesa cambiada")
    confirm(organiser, RUN, shown)
    moved = last(hub).seq
    page = judge.get(RUN).text
    assert f'value="revoke-{penalty}"' in page
    assert f'value="revoke-{moved}"' not in page
    forged = {**fields_of(page, f"revoke-{penalty}"), "number": str(moved), "reason": "r"}
    assert judge.post(RUN, data=forged).status_code == 400
    assert fill_in(judge, RUN, f"revoke-{penalty}", reason="error").status_code == 303


def test_who_notes_the_same_incident_twice_in_a_minute_is_asked(hub: Hall) -> None:
    judge, organiser = hub.judge(), hub.organiser()
    assert fill_in(judge, RUN, "incident_noted", reason="caja abierta").status_code == 303
    first = last(hub)
    asked = fill_in(judge, RUN, "incident_noted", reason=" Caja  abierta")
    assert "Acaba de anotar lo mismo" in text_of(asked.text)
    assert last(hub) == first
    assert fill_in(organiser, RUN, "incident_noted", reason="caja abierta").status_code == 303
    assert confirm(judge, RUN, asked).status_code == 409, "the organiser noted something since"
    asked = fill_in(judge, RUN, "incident_noted", reason="caja abierta")
    assert confirm(judge, RUN, asked).status_code == 303
    hub.now_ms += 60_000
    assert fill_in(judge, RUN, "incident_noted", reason="caja abierta").status_code == 303


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("90", 90),
        ("1:30", 90),
        ("99:59", 5_999),
        ("1:02:03", 3_723),
        ("-0:30", -30),
        ("−0:30", -30),
        ("1:99", None),
        ("0:60", None),
        ("1:60:00", None),
        ("1:2:3:4", None),
        ("", None),
        ("1e3", None),
    ],
)
def test_a_time_has_no_more_than_59_seconds_behind_its_minutes(typed: str, seconds: int | None) -> None:
    assert seconds_typed(typed) == seconds


def test_after_a_restore_what_was_ruled_before_is_taken_back_and_incidents_are_answered(hub: Hall) -> None:
    organiser = hub.organiser()
    fill_in(organiser, RUN, "penalty_given", number="10", reason="r")
    penalty = last(hub)
    fill_in(organiser, OFFICE, "incident", reason="se fue la luz")
    incident = last(hub)
    hub.store.renew_epoch()
    assert hub.store.hub_log != penalty.log
    assert fill_in(organiser, RUN, f"revoke-{penalty.seq}", reason="error").status_code == 303
    assert (last(hub).log, last(hub).data["of_log"]) == (hub.store.hub_log, penalty.log)
    assert adults(hub)["e1"]["official"] == "43:21"
    assert fill_in(organiser, OFFICE, f"answer-{incident.seq}", reason="volvió").status_code == 303
    assert last(hub).data["of_log"] == incident.log
    assert "No hay incidencias abiertas" in organiser.get(OFFICE).text
    fill_in(organiser, RUN, "penalty_given", number="20", reason="r")
    assert fill_in(organiser, RUN, f"revoke-{last(hub).seq}", reason="error").status_code == 303
    assert "of_log" not in last(hub).data


def test_what_waits_for_a_decision_stands_on_the_organisers_page(hub: Hall) -> None:
    log = TableLog("adulto", "t03/r", log="t03-l", device="t03", boot="b3", entrant="e3")
    hub.hears(log.start(0, table=3).finish(2_900_000).events)
    page = text_of(hub.organiser().get(OFFICE).text)
    assert "Carla T. Adulto" in page
    assert "pendiente de aceptar" in page


def test_without_anything_to_decide_the_page_says_so(tmp_path: Path) -> None:
    with hall(tmp_path) as empty:
        page = empty.organiser().get(OFFICE).text
        assert "Nada espera una decisión" in page
        assert "No hay incidencias abiertas" in page
        assert send(
            empty.organiser(), OFFICE, kind="time_granted", heat="9", number="60", reason="r"
        ).status_code in (
            400,
            409,
        )


# Before and after -----------------------------------------------------------------------------------


def rows_of(page: str) -> list[str]:
    return [text_of(row).strip() for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)]


def test_the_audit_tells_what_was_before_and_after_each_press_and_ruling(hub: Hall) -> None:
    organiser = hub.organiser()
    fill_in(organiser, RUN, "penalty_given", number="60", reason="se equivocó")
    rows = rows_of(organiser.get("/audit").text)
    ruling = next(row for row in rows if "penalización" in row)
    assert "Marta penalización +1:00 se equivocó" in ruling
    assert "Ana G. : 1.º puesto · 43:21" in ruling
    assert "Ana G. : 2.º puesto · 44:21" in ruling
    finish = next(row for row in rows if "t01 · 2" in row)
    assert finish.endswith("en marcha ¿completo? por aceptar")
    start = next(row for row in rows if "t01 · 1" in row)
    assert start.endswith("lista mirar sin abrir")


def test_the_audit_of_a_person_has_the_rulings_that_moved_them(hub: Hall) -> None:
    organiser = hub.organiser()
    fill_in(organiser, "/judge/run?id=t02%2Fr2", "penalty_given", number="60", reason="se equivocó")
    who = re.findall(r'<option value="([0-9a-f]+ adulto e3)"', organiser.get(OFFICE).text)[0]
    confirm(organiser, OFFICE, fill_in(organiser, OFFICE, "absent", who=who, reason="no ha venido"))
    carla = rows_of(organiser.get("/audit?entrant=Carla%20T.").text)
    assert len(carla) == 2
    assert "no ha venido" in carla[1]
    table = rows_of(organiser.get("/audit?table=2").text)
    assert any("se equivocó" in row for row in table)
    assert not any("no ha venido" in row for row in table)


def test_who_may_log_in_is_told_before_and_after(hub: Hall) -> None:
    organiser = hub.organiser()
    hub.judge("Eva")
    (eva,) = hub.office.people.judges()
    send(organiser, "/people", deed="dismiss", judge=eva.id)
    rows = rows_of(organiser.get("/audit?of=people").text)
    assert rows[1].endswith("juez dado de baja Eva puede entrar no puede entrar")


def test_a_ruling_given_before_the_database_kept_effects_is_told_without(hub: Hall) -> None:
    data = {"seconds": 60, "reason": "r", "by": "Luis"}
    hub.store.record(EventType.PENALTY_GIVEN, data, wall_ms=hub.now_ms, run="t01/r1")
    assert "penalización" in hub.organiser().get("/audit").text


# As a file ------------------------------------------------------------------------------------------


def csv_of(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_the_audit_goes_into_a_spreadsheet_without_a_formula(hub: Hall) -> None:
    organiser = hub.organiser()
    for reason in ('=HYPERLINK("http://x")', "+49", "-A", "@x", "Ñandú; \"y\", 'z'"):
        fill_in(organiser, RUN, "incident_noted", reason=reason)
    fill_in(organiser, RUN, "penalty_given", number="60", reason="se equivocó")
    answer = organiser.get("/audit.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    rows = csv_of(answer.text)
    assert len(rows) == len(list(hub.store.events_in_order()))
    assert [int(row["number"]) for row in rows] == sorted(int(row["number"]) for row in rows)
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell != ""]
    assert '\'=HYPERLINK("http://x")' in [row["reason"] for row in rows]
    assert "Ñandú; \"y\", 'z'" in [row["reason"] for row in rows]
    assert rows[-1]["before"].startswith("Ana G.: 1.º puesto · 43:21")
    assert rows[-1]["after"].startswith("Ana G.: 2.º puesto · 44:21")


def test_the_audit_as_json_lines_holds_the_events_as_they_stand_in_the_logs(hub: Hall) -> None:
    organiser = hub.organiser()
    fill_in(organiser, RUN, "penalty_given", number="60", reason="se equivocó")
    lines = [json.loads(line) for line in organiser.get("/audit.jsonl").text.splitlines()]
    assert [line["event"] for line in lines] == [e.as_json() for e in hub.store.events_in_order()]
    effects = lines[-1]["effects"]
    assert [(e["run"], e["was"]["rank"], e["became"]["rank"]) for e in effects] == [("t01/r1", 1, 2)]
    people = [json.loads(line) for line in organiser.get("/audit.jsonl?of=people").text.splitlines()]
    assert people[0]["deed"] == "set_up"


def test_a_long_audit_is_exported_whole_and_by_table(hub: Hall) -> None:
    log = TableLog("adulto", "r", log="t09-l", device="t09", boot="b", entrant=None)
    for at_ms in range(450):
        log.write("press_refused", at_ms, act="pause", reason="no_pauses")
    hub.hears(log.events)
    organiser = hub.organiser()
    assert len(csv_of(organiser.get("/audit.csv").text)) == 450 + 6
    assert len(csv_of(organiser.get("/audit.csv?table=1").text)) == 3
    assert 'href="/audit.csv?table=1&amp;"' in organiser.get("/audit?table=1").text
