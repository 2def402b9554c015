"""The organiser's page of judges: let in with a printed card, given another PIN, dismissed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.people import BadPerson, Person
from hub.web.answers import form_page, see, whole_number
from hub.web.entry import bad_person_words
from hub.web.forms import form_of
from hub.web.language import language_of
from hub.web.qr import qr_svg, site_address
from hub.web.site import site_of
from hub.web.visitor import visitor_of
from shared.texts import translator


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """What is printed for a judge, once."""

    name: str
    pin: str
    address: str
    qr: Markup


async def people(request: Request) -> Response:
    """All judges, and what an organiser does about them."""
    if request.method != "POST":
        return await _page(request)
    office, form = site_of(request).office.people, form_of(request)
    organiser = visitor_of(request).person
    by = "" if organiser is None else organiser.name
    judge = whole_number(form.get("judge")) or 0
    try:
        match form.get("deed"):
            case "let_in":
                made = await run_in_threadpool(office.let_in, form.get("name", ""), by)
            case "renew":
                made = await run_in_threadpool(office.renew_pin, judge, by)
            case "dismiss":
                await run_in_threadpool(office.dismiss, judge, by)
                return see("/people")
            case _:
                raise BadPerson("nobody")
    except BadPerson as error:
        problem = bad_person_words(error, translator(language_of(request)))
        return await _page(request, problem=problem, status=400)
    return await _page(request, card=_card(request, *made))


async def _page(
    request: Request, card: JudgeCard | None = None, problem: str = "", status: int = 200
) -> Response:
    judges = await run_in_threadpool(site_of(request).office.people.judges)
    return form_page(request, "people.html", status, judges=judges, card=card, problem=problem)


def _card(request: Request, person: Person, pin: str) -> JudgeCard:
    address = site_address(request)
    link = f"{address}/login?" + urlencode({"name": person.name, "pin": pin})
    return JudgeCard(person.name, pin, address, qr_svg(link))
