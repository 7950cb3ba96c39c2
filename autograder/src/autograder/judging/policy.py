"""Decides in which context an exercise is tested next, and which run counts: pure functions.

A notebook is judged from top to bottom, each exercise at its own test cell: the cells before the
test cell have run, and those after it have not, except in FULL_NOTEBOOK. A context says which code
an earlier exercise runs, and whether the later cells run:

| context         | an earlier exercise has                           | later cells |
|-----------------|---------------------------------------------------|-------------|
| SUBMITTED       | the student's cell                                | not run     |
| FULL_NOTEBOOK   | the student's cell                                | run         |
| FAILED_REPLACED | the solution's cell if it did not get full points | not run     |
| ALL_REPLACED    | the solution's cell                               | not run     |

A training, whose tests take long, is tested in FAILED_REPLACED before SUBMITTED if an earlier
exercise failed. FULL_NOTEBOOK is for answers that need what the student's own later cells define.
No context holds the solution of the tested exercise or of a later one.

`decide` is the rule: given the situation of an exercise, it returns the next run, or the run that
counts, and why. `next_run` chooses the exercise that is tested next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from ..records import Cell, Status, Verdict
from .points import share_of

_LACKING = tuple(
    f"raised {kind}"
    for kind in ("NameError", "UnboundLocalError", "AttributeError", "TypeError",
                 "NotImplementedError")
)  # fmt: skip
"""Errors that a test sees if a name is not defined yet, or if a stub still defines it."""


class Context(Enum):
    """The code that has run when an exercise is tested (see the table above)."""

    SUBMITTED = "as submitted"
    FULL_NOTEBOOK = "full notebook"
    FAILED_REPLACED = "failed ones replaced"
    ALL_REPLACED = "all replaced"


_ROUND = {
    Context.SUBMITTED: 0,
    Context.FULL_NOTEBOOK: 1,
    Context.FAILED_REPLACED: 2,
    Context.ALL_REPLACED: 2,
}
"""The round in which a context is used. Round 0 of all exercises comes first, then round 1 of all,
so that one session tests every exercise as submitted and then runs the notebook to its end; cells
are replaced only after that."""

_PREFERRED = (
    Context.FAILED_REPLACED,
    Context.SUBMITTED,
    Context.ALL_REPLACED,
    Context.FULL_NOTEBOOK,
)
"""If several runs have the same share of points, the one whose context comes first here counts.

In FAILED_REPLACED, mistakes of other exercises have no part in the explanation. SUBMITTED replaces
nothing, and ALL_REPLACED more than is needed. In FULL_NOTEBOOK, mistakes of later cells may have a
part.
"""


@dataclass(frozen=True)
class SuiteRun:
    """The hidden tests of an exercise, run in one context.

    Attributes:
        replaced: the ids of the earlier exercises whose solution ran in place of the answer.
        reuses: the run in another context whose verdicts were kept for this context, or None if
            the verdicts are new.
    """

    context: Context
    replaced: tuple[str, ...]
    verdicts: list[Verdict]
    reuses: SuiteRun | None = None

    @property
    def origin(self) -> SuiteRun:
        """The run in which all tests ran and gave these verdicts: `reuses`, or this run itself."""
        return self.reuses or self

    @cached_property
    def share(self) -> float:
        """Share of the exercise's points, from 0 to 1."""
        return share_of(self.verdicts)

    @cached_property
    def is_late(self) -> bool:
        """True if a test ran into a time limit."""
        return any(verdict.lost == Status.TIMEOUT for verdict in self.verdicts)

    @cached_property
    def lacks_a_name(self) -> bool:
        """True if a test that did not pass saw an error that an undefined name or a stub raises."""
        return any(
            value in _LACKING
            for verdict in self.verdicts
            if not verdict.passed
            for value in verdict.seen
            if type(value) is str
        )

    @property
    def failed(self) -> list[Verdict]:
        """Verdicts of the tests that did not pass."""
        return [verdict for verdict in self.verdicts if not verdict.passed]


@dataclass
class Situation:
    """The facts about an exercise on which the decision about its next run depends.

    Attributes:
        earlier: the ids of all earlier exercises on which this one may build, in order.
        is_answered: whether the exercise has an answer.
        has_later: whether a cell after the exercise's tests was written by the student.
        is_question: whether the exercise asks for a letter or a number. The first answer that
            arrives counts, so that an answer which depends on the context is no second guess.
        trains: whether its tests take the time of trainings.
        runs: the runs so far, one for each context, in order.
        circle: the ids of exercises that pass more tests with this one's solution, while this one
            passes more tests with theirs.
    """

    earlier: Sequence[str] = ()
    is_answered: bool = True
    has_later: bool = True
    is_question: bool = False
    trains: bool = False
    runs: list[SuiteRun] = field(default_factory=list)
    circle: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class NextRun:
    """The decision to test an exercise in one more context.

    Attributes:
        replaced: the ids of the exercises whose solution runs in place of the answer.
        before: an earlier run. Its failed tests run first, and the others only if `keeps_verdicts`
            does not keep its verdicts. None if all tests run in any case.
    """

    context: Context
    replaced: tuple[str, ...]
    before: SuiteRun | None
    reason: str


@dataclass(frozen=True)
class Conclusion:
    """The decision that no other run is needed.

    Attributes:
        counts: the run that counts, the one with the highest share.
        explained: the run in whose context a failure is explained: the run in FAILED_REPLACED if it
            kept the verdicts of the run that counts, since the public examples meet no mistake of
            another exercise there; else the run that counts.
        own: the run in the context SUBMITTED; None for a training that was not tested in it.
    """

    counts: SuiteRun
    explained: SuiteRun
    own: SuiteRun | None
    reason: str


def decide(exercise: str, situations: Mapping[str, Situation]) -> NextRun | Conclusion:
    """Return the next run for an exercise, or the conclusion that no other run is needed.

    Args:
        exercise: the id of the exercise.
        situations: the situations of all exercises that are judged, by id.
    """
    situation = situations[exercise]
    runs = situation.runs
    # An earlier exercise that was not tested yet counts as failed here: it is a training that waits
    # itself, and comes first.
    failed = tuple(
        name
        for name in situation.earlier
        if name in situations and all(run.share < 1 for run in situations[name].runs)
    )
    if not runs and failed and situation.trains and situation.is_answered:
        reason = "earlier exercises without full points may spoil a training, which takes long"
        return NextRun(Context.FAILED_REPLACED, failed, None, reason)
    if not runs:
        return NextRun(Context.SUBMITTED, (), None, "each exercise is tested as submitted first")
    last = runs[-1]
    if _own(runs) is None and (last.share < 1 or situation.circle):
        reason = "the training may fit the answers to earlier exercises"
        return NextRun(Context.SUBMITTED, (), last, reason)
    # Whether the answer to a question arrived: its name was defined, and the process lived.
    is_read = not last.lacks_a_name and not any(verdict.lost for verdict in last.verdicts)
    if last.share == 1:
        return _conclusion(situation, "full points")
    if situation.is_question and is_read:
        return _conclusion(situation, "the first answer to a question that is read counts")
    if last.context is Context.SUBMITTED and situation.has_later and last.lacks_a_name:
        reason = "a test lacked a name that a later cell may define"
        return NextRun(Context.FULL_NOTEBOOK, (), None, reason)
    if not situation.is_answered:
        return _conclusion(situation, "there is no answer")
    done = {run.replaced for run in runs}
    if last.is_late and failed in done:
        # An answer that took too long with the failed exercises replaced would take too long again.
        return _conclusion(situation, "it took too long, and would again")
    best = _best(runs)
    # Verdicts that were given with the later cells do not hold without these, so all tests run.
    before = None if best.context is Context.FULL_NOTEBOOK else best
    if failed not in done:
        reason = "earlier exercises without full points may be the cause"
        return NextRun(Context.FAILED_REPLACED, failed, before, reason)
    if (earlier := tuple(situation.earlier)) not in done:
        reason = "earlier answers may not fit this one"
        return NextRun(Context.ALL_REPLACED, earlier, before, reason)
    return _conclusion(situation, "no other context is left")


def next_run(situations: Mapping[str, Situation]) -> tuple[str, NextRun] | None:
    """Return the id of the exercise to test next, and the run; None if no run is needed. The run
    of the lowest round comes next, and within a round that of the first exercise.

    Args:
        situations: the situations by exercise, in the order of the notebook.
    """
    decisions = ((name, decide(name, situations)) for name in situations)
    wanted = [(name, run) for name, run in decisions if isinstance(run, NextRun)]
    return min(wanted, key=lambda pair: _ROUND[pair[1].context], default=None)


def conclusions(situations: Mapping[str, Situation]) -> dict[str, Conclusion]:
    """Return by exercise: the conclusion, for each exercise that needs no other run."""
    decisions = {name: decide(name, situations) for name in situations}
    return {name: each for name, each in decisions.items() if isinstance(each, Conclusion)}


def _conclusion(situation: Situation, reason: str) -> Conclusion:
    runs = [run for run in situation.runs if situation.circle.isdisjoint(run.replaced)]
    counts = _best(runs)
    # The run that counts, and the runs in other contexts that kept its verdicts.
    alike = (run for run in runs if run.origin.context is counts.context)
    explained = next((run for run in alike if run.context is Context.FAILED_REPLACED), counts)
    where = {
        Context.SUBMITTED: "as submitted",
        Context.FULL_NOTEBOOK: "with all cells of the notebook",
    }.get(counts.context, f"with working versions of {_listed(counts.replaced)}")
    if situation.circle:
        reason = (
            f"the solution of {_listed(sorted(situation.circle))} does not count, since the answer "
            "there gains by the solution here as well"
        )
    elif counts.share < 1 and len(runs) > 1:
        reason = f"{reason}; none of {len(runs)} contexts gives more points"
    return Conclusion(counts, explained, _own(runs), f"graded {where}: {reason}")


def _best(runs: Sequence[SuiteRun]) -> SuiteRun:
    return max(runs, key=lambda run: (run.share, -_PREFERRED.index(run.context))).origin


def _own(runs: Sequence[SuiteRun]) -> SuiteRun | None:
    return next((run for run in runs if run.context is Context.SUBMITTED), None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def keeps_verdicts(run: NextRun, now: Sequence[Verdict]) -> bool | None:
    """Return whether the verdicts of the run before are kept for a new context; None if the tests
    that have not run yet have to decide.

    FAILED_REPLACED, SUBMITTED: they are kept if every failed test fails again with the same values.
    Other values show that the mistakes of other exercises had a part in the verdicts.
    ALL_REPLACED: they are kept once the first failed test fails again with the same values, or if
    none of the failed tests passes.

    Args:
        run: the decision to test in the new context; `run.before` is the run before.
        now: the new verdicts of the tests that failed before, in order, as far as they are known.
    """
    failed = run.before.failed if run.before else []
    pairs = zip(failed, now, strict=False)
    is_alike = all(not new.passed and new.seen == old.seen for old, new in pairs)
    replaces_all = run.context is Context.ALL_REPLACED
    if not is_alike and not (replaces_all and not any(new.passed for new in now)):
        return False
    # ALL_REPLACED: the mistake is this exercise's own, whatever cells run before it.
    is_settled = len(now) == len(failed) or (is_alike and replaces_all and now)
    return True if is_settled else None


def suspects(partner: str, situations: Mapping[str, Situation]) -> list[str]:
    """Return the ids of the exercises that earned more points with `partner` replaced, if `partner`
    is an exercise with an answer that failed.

    If `partner` in turn passes more tests with the solutions of these exercises, the answers may
    only call each other: a circle, for which neither exercise earns points.
    """
    found = conclusions(situations)
    if found[partner].counts.share == 1 or not situations[partner].is_answered:
        return []
    return [
        name
        for name, each in found.items()
        if partner in each.counts.replaced
        and (each.own is None or each.counts.share > each.own.share)
    ]


def gains(before: Verdict, now: Verdict) -> bool | None:
    """Return True if a failed test passes once other exercises are replaced, False if it fails with
    the same values, and None if it fails with other values, so that other tests have to decide.

    Args:
        before: the test's verdict without the replaced cells.
        now: the test's verdict with the replaced cells.
    """
    if now.passed:
        return True
    # The test saw the same values, so the replaced cells made no difference.
    return False if now.seen == before.seen else None


def places(cells: Sequence[Cell], exercises: Sequence[str]) -> dict[str, int]:
    """Return by exercise: the number of cells that run before it is tested.

    An exercise is tested at its test cell; without a test cell, after its last cell; without any
    cell, at the end of the notebook.
    """
    found = dict.fromkeys(exercises, len(cells))
    found |= {cell.exercise: index + 1 for index, cell in enumerate(cells) if cell.exercise}
    found |= {cell.tests: index for index, cell in enumerate(cells) if cell.tests}
    return found
