"""What is wrong with the hub itself, as sentences that say what to do (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any


def hub_troubles(report: Mapping[str, Any], t: NullTranslations) -> tuple[str, ...]:
    """All that is wrong, the worst first; empty when nothing is."""
    database, backup = str(report.get("database", "ok")), str(report.get("backup", "ok"))
    told = []
    if database != "ok":
        told.append(database_sentence(database, t))
    elif report.get("connected") is False:
        told.append(t.gettext("The hub does not reach its broker. The tables keep everything."))
    if backup != "ok":
        told.append(_backup_sentence(backup, t))
    if report.get("send_junk"):
        told.append(
            t.gettext(
                "A table timer sends much that nobody can read, and no more of it is kept: see the tables."
            )
        )
    return tuple(told)


def database_sentence(code: str, t: NullTranslations) -> str:
    """Why the database takes nothing."""
    sentences = {
        "locked": t.gettext("Another program holds the hub's database: end it. The tables keep everything."),
        "full": t.gettext("The hub's disk is full: make room on it. The tables keep everything."),
        "damaged": t.gettext("The hub's database is damaged: restart the hub, it says how to go on."),
        "failing": t.gettext("The hub's disk does not work: see the hub's log. The tables keep everything."),
    }
    return sentences.get(code, sentences["failing"])


def _backup_sentence(code: str, t: NullTranslations) -> str:
    sentences = {
        "full": t.gettext("No backup can be made: the disk for backups is full. Make room on it."),
        "locked": t.gettext("No backup can be made: another program holds the hub's database. End it."),
        "damaged": t.gettext(
            "No good backup can be made: what was copied is damaged. Restart the hub, it says how to go on."
        ),
        "failing": t.gettext("No backup can be made: the disk does not take it. See the hub's log."),
    }
    return sentences.get(code, sentences["failing"])
