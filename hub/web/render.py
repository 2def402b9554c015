"""Turns views into HTML: one Jinja environment a language, everything escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hub.web.assets import Assets
from hub.web.live import Live
from hub.web.settings import WebSettings
from hub.web.snapshots import Snapshot, Topic
from hub.web.standings_view import boards
from hub.web.tables_view import cards
from hub.web.troubles import hub_troubles
from hub.web.words import isolated
from shared.texts import LANGUAGES, translator

if TYPE_CHECKING:
    from hub.web.visitor import Visitor

REFUSAL_PAGE = "problem.html"


class Renderer:
    """The pages of one hub."""

    def __init__(self, live: Live, settings: WebSettings, assets: Assets) -> None:
        self._live = live
        self._settings = settings
        self._assets = assets
        self._environments = {language: self._environment(language) for language in LANGUAGES}

    def fragment(self, topic: Topic, language: str) -> str:
        """The live part of a page as it is now."""
        t = translator(language)
        if topic is Topic.STANDINGS:
            standings = self._live.standings()
            view = boards(standings, language, t)
            return self._render(language, "_standings.html", boards=view, revision=standings["revision"])
        tables = cards(
            self._live.tables(),
            language=language,
            t=t,
            settings=self._settings,
            speed=self._live.speed,
            timer_pages=self._live.timer_pages,
        )
        troubles = hub_troubles(self._live.health(), t)
        return self._render(language, "_tables.html", cards=tables, troubles=troubles)

    def page(
        self, snapshot: Snapshot, *, aged_ms: int, language: str, visitor: Visitor, token: str = ""
    ) -> str:
        """A whole page around a snapshot; with a `token` for its forms who may ask tables something can."""
        tables = self._live.tables() if token and snapshot.topic is Topic.TABLES else []
        return self._render(
            language,
            f"{snapshot.topic}.html",
            topic=str(snapshot.topic),
            fragment=Markup(snapshot.html),  # our own template's output, escaped there
            revision=snapshot.revision,
            aged_ms=aged_ms,
            at=self._settings.time_of_day(seconds=True),
            token=token,
            devices=sorted((table["table"], table["device"]) for table in tables if table["device"]),
            visitor=visitor,
        )

    def form_page(self, template: str, *, language: str, visitor: Visitor, **names: object) -> str:
        """A page for one visitor."""
        return self._render(
            language, template, topic=template.removesuffix(".html"), visitor=visitor, **names
        )

    def problem(
        self, status: int, sentence: str, *, language: str, visitor: Visitor, log_in_to: str = ""
    ) -> str:
        """The page of a request that was not answered as asked; `log_in_to` where logging in would help."""
        return self._render(
            language,
            REFUSAL_PAGE,
            topic="",
            status=status,
            sentence=sentence,
            visitor=visitor,
            log_in_to=log_in_to,
        )

    def _render(self, language: str, template: str, **names: object) -> str:
        return (
            self._environments[language]
            .get_template(template)
            .render(
                language=language,
                languages=LANGUAGES,
                tournament=self._live.tournament,
                speed=self._live.speed,
                settings=self._settings,
                version=self._assets.version,
                **names,
            )
        )

    def _environment(self, language: str) -> Environment:
        environment = Environment(
            loader=PackageLoader("hub.web"),
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
        environment.globals["asset"] = self._assets.url
        environment.filters["isolated"] = isolated
        return environment
