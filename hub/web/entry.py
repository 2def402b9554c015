"""Logging in and out, the first password, and another one."""

from __future__ import annotations

from gettext import NullTranslations
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.passwords import LEAST_LETTERS
from hub.people import SESSION_S, BadPerson, NotLetIn, TooManyTries
from hub.web.answers import form_page, own_path, see
from hub.web.event_words import role_word
from hub.web.forms import form_of
from hub.web.language import language_of
from hub.web.site import site_of
from hub.web.visitor import SESSION_COOKIE, is_encrypted, visitor_of
from shared.texts import translator

HOME: Final = "/judge"


async def log_in(request: Request) -> Response:
    """A name with a password, or a judge's PIN as the printed card brings it."""
    people = site_of(request).office.people
    if not await run_in_threadpool(people.has_organiser):
        return see("/setup") if visitor_of(request).here else form_page(request, "not_set_up.html")
    if request.method != "POST":
        query = request.query_params
        return _log_in_page(request, query.get("name", ""), query.get("pin", ""), query.get("to", ""))
    form = form_of(request)
    name, to = form.get("name", ""), form.get("to", "")
    try:
        address, secret = _address(request), form.get("secret", "")
        known = await run_in_threadpool(people.called, name)
        token = await site_of(request).door.ask(address, known, lambda: people.log_in(name, secret, address))
    except NotLetIn:
        problem = _words(request).gettext("No such name with such a password or PIN.")
        return _log_in_page(request, name, "", to, problem, 403)
    except TooManyTries as error:
        return _log_in_page(request, name, "", to, _slow(request, error), 429)
    return _logged_in(request, token, own_path(to, HOME))


async def set_up(request: Request) -> Response:
    """The first password, at the hub itself: there is no default."""
    people = site_of(request).office.people
    if await run_in_threadpool(people.has_organiser):
        return see("/login")
    form = form_of(request)
    if request.method != "POST":
        return form_page(request, "setup.html", name="", problem="", least=LEAST_LETTERS)
    name, password = form.get("name", ""), form.get("secret", "")
    try:
        if password != form.get("again"):
            raise BadPerson("not_the_same")
        person = await run_in_threadpool(people.set_up, name, password)
        token = await run_in_threadpool(people.log_in, person.name, password, _address(request))
    except BadPerson as error:
        problem = bad_person_words(error, _words(request))
        return form_page(request, "setup.html", 400, name=name, problem=problem, least=LEAST_LETTERS)
    return _logged_in(request, token, "/people")


async def me(request: Request) -> Response:
    """Who is logged in may log out, and an organiser choose another password."""
    form = form_of(request)
    if request.method != "POST":
        return _me_page(request)
    people, person = site_of(request).office.people, visitor_of(request).person
    if form.get("deed") == "log_out":
        await run_in_threadpool(people.log_out, request.cookies.get(SESSION_COOKIE, ""))
        return _logged_out(see("/"))
    if form.get("deed") != "password" or person is None or not person.organises:
        return _me_page(request, status=400)
    old, new = form.get("old", ""), form.get("secret", "")
    try:
        if new != form.get("again"):
            raise BadPerson("not_the_same")
        address = _address(request)
        await site_of(request).door.ask(
            address, person.name, lambda: people.change_password(person, old, new, address)
        )
    except BadPerson as error:
        return _me_page(request, bad_person_words(error, _words(request)), 400)
    except NotLetIn:
        return _me_page(request, _words(request).gettext("The old password is another one."), 403)
    except TooManyTries as error:
        return _me_page(request, _slow(request, error), 429)
    return _logged_out(see("/login", name=person.name, to="/me"))


def bad_person_words(error: BadPerson, t: NullTranslations) -> str:
    """Why a name or password cannot be taken."""
    sentences = {
        "name_empty": t.gettext("A name is missing."),
        "name_bad": t.gettext("This name is too long."),
        "name_taken": t.gettext("Somebody of this name is there already."),
        "password_short": t.gettext("The password needs at least %(n)d letters.") % {"n": LEAST_LETTERS},
        "password_long": t.gettext("The password is too long."),
        "not_the_same": t.gettext("The two passwords are not the same."),
        "set_up_before": t.gettext("An organiser is set up already."),
    }
    return sentences.get(error.code) or t.gettext("There is nobody of this name.")


def _log_in_page(
    request: Request, name: str, pin: str, to: str, problem: str = "", status: int = 200
) -> Response:
    return form_page(request, "login.html", status, name=name, pin=pin, to=own_path(to, ""), problem=problem)


def _me_page(request: Request, problem: str = "", status: int = 200) -> Response:
    person = visitor_of(request).person
    role = role_word("" if person is None else str(person.role), _words(request))
    return form_page(request, "me.html", status, role=role, problem=problem, least=LEAST_LETTERS)


def _logged_in(request: Request, token: str, to: str) -> Response:
    response = see(to)
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=SESSION_S,
        httponly=True,
        samesite="lax",
        secure=is_encrypted(request),
        path="/",
    )
    return response


def _logged_out(response: Response) -> Response:
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax", path="/")
    return response


def _slow(request: Request, error: TooManyTries) -> str:
    words = _words(request).gettext("Too many wrong tries from here: wait %(n)d s, then try again.")
    return words % {"n": int(error.wait_s) + 1}


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _words(request: Request) -> NullTranslations:
    return translator(language_of(request))
