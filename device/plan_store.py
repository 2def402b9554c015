"""What a table keeps beside its journal: the newest plan and rulings, and the rules its runs were started with."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from device.disk import replace_file
from shared.core.rules import CategoryRules
from shared.plan import BadPlan, Plan, Resume, plan_from_json, rules_from_json, rules_to_json
from shared.wire import BadPayload, RunRulings, parse_rulings


class PlanStore:
    """Files of one table; each is written whole (write, fsync, rename)."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rules: dict[str, CategoryRules] = {}

    def plan(self) -> Plan | None:
        """The newest plan that was kept; None without one, or when it cannot be read."""
        try:
            return plan_from_json(json.loads((self._directory / "plan.json").read_bytes()))
        except (OSError, ValueError, BadPlan):
            return None

    def keep_plan(self, plan: Plan) -> None:
        """Keep a plan for the time without a hub. Raises OSError."""
        replace_file(self._directory / "plan.json", json.dumps(plan.as_json()).encode())

    def forget_plan(self) -> None:
        """There is no plan any more. Raises OSError."""
        (self._directory / "plan.json").unlink(missing_ok=True)

    def rulings(self) -> RunRulings | None:
        """What was ruled on the run shown last; None if nothing was, or when it cannot be read."""
        try:
            return parse_rulings((self._directory / "rulings.json").read_bytes())
        except (OSError, BadPayload):
            return None

    def keep_rulings(self, told: RunRulings) -> None:
        """Keep the rulings on the shown run for the time without a hub. Raises OSError."""
        replace_file(self._directory / "rulings.json", json.dumps(told.as_json()).encode())

    def rules(self, digest: str) -> CategoryRules | None:
        """The rules with this digest that a run was started with."""
        if digest not in self._rules:
            try:
                self._rules[digest] = rules_from_json(json.loads(self._path(digest).read_bytes()))
            except (OSError, ValueError, BadPlan):
                return None
        return self._rules[digest]

    def keep_rules(self, rules: CategoryRules) -> str:
        """Keep the rules of a run that is about to start; gives their digest. Raises OSError."""
        digest = rules.digest()
        if digest not in self._rules:
            if not self._path(digest).exists():
                replace_file(self._path(digest), json.dumps(rules_to_json(rules)).encode())
            self._rules[digest] = rules
        return digest

    def keep_resumed(self, resume: Resume, rules: CategoryRules) -> None:
        """Keep what another device timed of a run that goes on here. Raises OSError."""
        kept = {"rules": rules_to_json(rules), "resume": resume.model_dump(mode="json")}
        replace_file(self._resumed_path(resume.run), json.dumps(kept).encode())

    def resumed(self, run: str) -> tuple[Resume, CategoryRules] | None:
        """What another device timed of a run, and the rules it goes on with."""
        try:
            kept = json.loads(self._resumed_path(run).read_bytes())
            return Resume.model_validate(kept["resume"]), rules_from_json(kept["rules"])
        except (OSError, ValueError, KeyError, TypeError, BadPlan):
            return None

    def _resumed_path(self, run: str) -> Path:
        return self._directory / f"resumed-{hashlib.sha256(run.encode()).hexdigest()[:16]}.json"

    def _path(self, digest: str) -> Path:
        return self._directory / f"rules-{digest[:16]}.json"
