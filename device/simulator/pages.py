"""The pages of the virtual tables, and the messages that keep them in step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from device.debounce import Button
from device.simulator.picture import data_uri
from device.simulator.supervisor import Supervisor
from device.simulator.virtual_table import View
from shared.texts import LANGUAGES, translator


@dataclass(frozen=True, slots=True)
class Key:
    """One of the four buttons as a page shows it."""

    button: str
    name: str
    """As printed on the case."""
    meaning: str
    key: str
    """Of the keyboard."""


class Pages:
    """Everything that is shown of the tables of one supervisor."""

    def __init__(self, supervisor: Supervisor, hub_page: str | None) -> None:
        self._supervisor = supervisor
        self._hub_page = hub_page
        self._environments = {language: _environment(language) for language in LANGUAGES}

    def index(self, language: str) -> str:
        """The page that lists all tables."""
        return self._render(language, "index.html", path="/", stream="/events")

    def table(self, number: int, language: str) -> str:
        """The page of one table. Raises NoSuchTable."""
        view = self._supervisor.view(number)
        return self._render(
            language,
            "table.html",
            path=f"/tables/{number}",
            stream=f"/tables/{number}/events",
            number=number,
            view=view,
            keys=_keys(translator(language)),
        )

    def message(self, number: int, view: View, language: str) -> str:
        """What a page is told about a table: JSON on one line."""
        news = {
            "table": number,
            "picture": data_uri(view.frame),
            "words": view.words,
            "on": view.on,
            "alive": view.alive,
            "down": sorted(view.down),
            "said": _said(view, translator(language)),
        }
        return json.dumps(news, ensure_ascii=False)

    def _render(self, language: str, template: str, **names: Any) -> str:
        t = translator(language)
        numbers = self._supervisor.numbers
        return (
            self._environments[language]
            .get_template(template)
            .render(
                language=language,
                languages={code: {"es": "Español", "en": "English"}[code] for code in LANGUAGES},
                hub_page=self._hub_page,
                speed=self._supervisor.settings.speed,
                numbers=numbers,
                pictures={n: data_uri(self._supervisor.view(n).frame) for n in numbers},
                says={n: _said(self._supervisor.view(n), t) for n in numbers},
                **names,
            )
        )


def _keys(t: NullTranslations) -> list[Key]:
    meanings = {
        Button.START: t.pgettext("button", "begin · undo"),
        Button.PAUSE: t.pgettext("button", "pause and go on"),
        Button.ASSIST: t.pgettext("button", "help from the judge"),
        Button.FINISH: t.pgettext("button", "done · yes"),
    }
    return [Key(b, b.upper(), meanings[b], str(n)) for n, b in enumerate(Button, start=1)]


def _said(view: View, t: NullTranslations) -> str:
    """What is to be said of a table beside its picture; nothing when it simply runs."""
    if not view.on:
        return t.gettext("Unplugged. What was timed is kept; plug it in to go on.")
    if view.alive:
        return ""
    if view.trouble:
        return t.gettext("The table's program stopped and is started again: %(why)s") % {"why": view.trouble}
    return t.gettext("The table is starting …")


def _environment(language: str) -> Environment:
    environment = Environment(
        loader=PackageLoader("device.simulator"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    t = translator(language)
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        t.gettext, t.ngettext, newstyle=True, pgettext=t.pgettext, npgettext=t.npgettext
    )
    return environment
