"""Whom READY offers to start: the plan's next runs, or the categories of the settings, or practice (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.core.rules import CategoryRules
from shared.plan import Plan, PlannedRun, Resume


@dataclass(frozen=True, slots=True)
class Choice:
    """One run that START would begin."""

    rules: CategoryRules
    planned: PlannedRun | None = None
    resume: Resume | None = None
    """START does not begin a run, but goes on with this one."""
    practice: bool = False
    """A run that counts nowhere, to learn the buttons with."""

    @property
    def entrant(self) -> str | None:
        """The entrant's opaque id; None when it is bound later by a ruling."""
        if self.resume is not None:
            return self.resume.entrant
        return None if self.planned is None else self.planned.entrant

    @property
    def public_name(self) -> str | None:
        """What the display shows of the entrant."""
        if self.resume is not None:
            return self.resume.public_name or self.resume.entrant
        return None if self.planned is None else self.planned.public_name or self.planned.entrant

    @property
    def heat(self) -> str | None:
        """The heat the run belongs to."""
        return None if self.planned is None else self.planned.heat


Done = frozenset[tuple[str | None, str, str]]


class Choices:
    """The offer of one table, and which of it is selected."""

    def __init__(self, categories: Sequence[CategoryRules], plan: Plan | None, done: Done) -> None:
        self._categories = categories
        self.plan = plan
        self._done = done
        self._selected = 0
        self._practice: Choice | None = None

    def offers(self) -> list[Choice]:
        """What can be chosen from, in order: runs of the plan not yet begun, else categories."""
        if self.plan is None:
            return [Choice(rules) for rules in self._categories]
        done, resume, rules = set(self._done), self.plan.resume, self.plan.categories
        offers = []
        if resume is not None and resume.key not in done:
            offers.append(Choice(rules[resume.category], resume=resume))
            done.add(resume.key)
        runs = sorted(self.plan.runs, key=lambda r: r.order)
        return offers + [Choice(rules[r.category], r) for r in runs if r.key not in done]

    def selected(self) -> Choice | None:
        """What START would begin; None when there is nothing to begin."""
        if self._practice is not None:
            return self._practice
        offers = self.offers()
        return offers[self._selected % len(offers)] if offers else None

    def choose(self, step: int) -> None:
        """Select another one, `step` onwards or back, round and round; from practice back to what counts."""
        offers = self.offers()
        if self._practice is not None:
            self._practice = None
        elif offers:
            self._selected = (self._selected + step) % len(offers)

    def practise(self) -> bool:
        """Select a run for practice in the category on the display; False when there is no category at all."""
        shown = self.selected()
        known = self._categories if self.plan is None else tuple(self.plan.categories.values())
        rules = shown.rules if shown is not None else next(iter(known), None)
        if rules is not None:
            self._practice = Choice(rules, practice=True)
        return rules is not None

    def offer_again(self, key: tuple[str | None, str, str | None], *, practice: bool) -> None:
        """Select what a start was of that was undone: its heat, category and entrant."""
        again = [n for n, o in enumerate(self.offers()) if (o.heat, o.rules.id, o.entrant) == key]
        if again:
            self._selected = again[0]
        if practice:
            self.practise()

    def choose_heat(self, heat: str) -> bool:
        """Select the next run of a heat, unless one of it is selected; False when there is none."""
        offers = self.offers()
        self._practice = None
        of_heat = [n for n, offer in enumerate(offers) if offer.heat == heat]
        if of_heat and self._selected % len(offers) not in of_heat:
            self._selected = of_heat[0]
        return bool(of_heat)

    def update(self, plan: Plan | None, done: Done) -> None:
        """A new plan, or a run begun or undone: the selection stays on the same run where it can.

        Practice is over with the run that began.
        """
        self._practice = None
        kept = self.selected()
        self.plan, self._done = plan, done
        offers = self.offers()
        same = [i for i, o in enumerate(offers) if kept is not None and o.planned == kept.planned]
        keep = same and (plan is not None or self._selected < len(offers))
        self._selected = (self._selected if plan is None else same[0]) if keep else 0
