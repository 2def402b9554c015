"""A judge's ruling travels to the table it is about, over real pages, broker, hub and table."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from tests.system.hall import Hall, a_hall
from tests.system.test_clock import ready
from tests.waiting import wait_until

PASSWORD = "pieza de esquina"


class Judge:
    """Somebody at the hub's own browser who is let in, and rules on the run at a table."""

    def __init__(self, hall: Hall) -> None:
        origin = f"http://127.0.0.1:{hall.web_port}"
        self._client = httpx.Client(base_url=origin, headers={"Origin": origin}, follow_redirects=True)
        self.page = self._client.get("/setup")
        self._send("/setup", name="Marta", secret=PASSWORD, again=PASSWORD)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def looks_at(self, table: int) -> None:
        """The judge opens the newest run at a table."""
        listed = self._client.get("/judge", params={"table": table})
        address = re.search(r'href="(/judge/run\?[^"]+)"', listed.text)
        self.page = listed if address is None else self._client.get(address[1].replace("&amp;", "&"))
        assert 'name="seen"' in self.page.text, self.page.text

    def rules(self, kind: str, **fields: object) -> httpx.Response:
        """The judge sends the form of the page as it was when looked at."""
        return self._send(
            str(self.page.url.raw_path.decode()), form=kind, kind=kind, reason="lo he visto", sure=1, **fields
        )

    def _send(self, path: str, **fields: object) -> httpx.Response:
        html = self.page.text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))
        wanted = {name: hidden[name] for name in ("token", "seen", "run") if name in hidden}
        return self._client.post(path, data={**wanted, **fields})


def test_a14_a_ruling_and_a_finish_meet_and_the_earlier_one_holds(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=2, speed=60) as hall:
        ready(hall, 2)
        for table in (1, 2):
            hall.start(table)
            hall.until_screen(table, "P2 · A3 10:00")
        with Judge(hall) as judge:
            judge.looks_at(1)
            hall.press(1, "finish")
            hall.until_line("e1", status="FINISHED")
            judge.rules("did_not_finish")
            assert hall.lines()["e1"]["status"] == "FINISHED", "the judge had not seen the finish"
            judge.looks_at(2)
            judge.rules("did_not_finish")
        hall.until_screen(2, "no terminó")
        hall.press(2, "finish")
        hall.until_screen(2, "cerrado: START = otro")
        assert hall.lines()["e2"]["status"] == "DNF"


def test_a_voided_run_is_over_at_its_table_and_its_entrant_starts_again(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        ready(hall, 1)
        hall.start(1)
        hall.until_screen(1, "P2 · A3 10:00")
        with Judge(hall) as judge:
            judge.looks_at(1)
            judge.rules("run_voided")
        hall.until_screen(1, "prueba anulada")

        def begun_again() -> bool:
            hall.press(1, "start")
            return "MIRAR SIN ABRIR" in hall.screen(1) or "P2" in hall.screen(1)

        wait_until(begun_again)
        line = hall.until_line("e1", status="RUNNING")
        assert "rerun" in line["marks"]
