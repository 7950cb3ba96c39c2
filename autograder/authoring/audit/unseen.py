"""Wrong answers that no diagnosis was made for, and what a student would be told of them.

They are made from the accepted variants, in every style of writing, and not from the notebook's own
solutions: cells with one change, and cells with two. A judge holds each explanation against the
code: what it says is run as a model on fresh points, and must give the numbers that the code gives.
"""

from __future__ import annotations

import random
import resource
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from coursecheck.check import diagnose, load_table, match
from coursecheck.inference import Inference, evaluate, infer, sample_probes
from coursecheck.messages import agree_all, explain, first_error
from coursecheck.probes import Probe, play

from ...course_folder.assignments import Assignment, Exercise, load_assignment
from ...course_folder.samples import Sample
from ...course_folder.settings import load_settings
from ...errors import OutOfTime
from ...judging.diagnosis import Diagnosis
from ...judging.formulas import fresh_points, holds
from ...wall.targets import LocalTarget
from .cases import Case, all_cases
from .judging import ENDLESS, SECONDS, Judge
from .mutation import mutants
from .oracle import Oracle, alike, experiments_of, same_recursion_limit, time_limit
from .running import MEMORY

KINDS = ("one_change", "two_changes", "with_another")
"""One change in a variant's cell; two; and one in each of two exercises' cells."""

RIGHT = "right"
"""The kind of a variant's cell as it is: whatever is said against it is a false alarm."""

EXPERIMENTS = 400
"""How often an experiment is made, to see whether an answer computes otherwise."""

ANSWER_SECONDS = 60.0
"""After so many an answer counts as endless."""

FRESH = 3
"""How often each point of a sample is moved, for the judge."""


@dataclass
class Answer:
    """A wrong answer, and what came of it.

    Attributes:
        kind: one of `KINDS`, or `RIGHT`.
        variant: whose cell was changed.
        cells: what stands in the notebook otherwise than in the solution, this cell among it.
        differs: whether the oracle sees it computing otherwise; None where it does not know.
        killed: whether a hidden test failed.
        named: the id of the misconception that it is taken for.
        raised: what is told of an error that it stops with.
        inferred: what is told that it computes.
        false: why that does not hold, if it does not; of a right answer, what is said against it.
        is_formula: whether the course declares formulas for the exercise.
    """

    kind: str
    assignment: str
    exercise: str
    variant: str
    change: str
    source: str
    cells: dict[str, str]
    differs: bool | None = None
    killed: bool = False
    named: str = ""
    raised: str = ""
    inferred: str = ""
    false: str = ""
    is_formula: bool = False

    @property
    def is_wrong(self) -> bool:
        return self.kind != RIGHT and self.differs is not False

    @property
    def is_explained(self) -> bool:
        return bool(self.named or self.inferred) and not self.false


def answers(course: Path, assignment: Assignment, seed: str, size: int) -> list[Answer]:
    """Wrong answers to an assignment, `size` at most, and all right ones that are known.

    Which ones are wrong depends on the seed.
    """
    settings = load_settings(course)
    rng = random.Random(f"unseen {seed} {assignment.name}")
    exercises = {
        name: each
        for name, each in assignment.exercises.items()
        if not each.form and not each.manual and name not in settings.limits.trainings
    }
    cells = [
        (name, case)
        for case in all_cases(course, assignment, seed, ["variant"])
        for name in case.answers
        if name in exercises
    ]

    def changed(name: str, source: str) -> tuple[str, str]:
        draw = str(rng.random())
        made = mutants(name, source, 1, draw, settings.audit.attributes)
        return (made[0].change, made[0].source) if made else ("", source)

    found: dict[tuple[str, ...], Answer] = {}
    for turn in range(4 * size if cells else 0):
        kind = KINDS[turn % len(KINDS)]
        # Each exercise comes as often as any other, in however many variants it stands.
        name = rng.choice(sorted({name for name, _ in cells}))
        case = rng.choice([case for each, case in cells if each == name])
        change, source = changed(name, case.answers[name])
        notebook = dict(case.answers)
        if kind == "two_changes":
            more, source = changed(name, source)
            change = f"{change}; then {more}"
        if kind == "with_another":
            other = rng.choice([each for each in exercises if each != name])
            more, notebook[other] = changed(
                other, notebook.get(other, assignment.exercises[other].solution)
            )
            change = f"{change}; and in {other}: {more}"
        notebook[name] = source
        if source != case.answers[name]:
            answer = Answer(kind, assignment.name, name, case.id, change, source, notebook)
            found.setdefault(tuple(notebook.values()), answer)
        if len(found) == size:
            break
    right = [
        Answer(RIGHT, assignment.name, name, case.id, "", case.answers[name], dict(case.answers))
        for name, case in cells
    ]
    return [*found.values(), *right]


class UnseenJudge:
    """Judges unseen answers without the wall: they are the project's own text, changed."""

    def __init__(self, course: Path, seed: str) -> None:
        self._course = course
        self._seed = seed
        self._judge = Judge(course, seed)
        self._oracles: dict[str, Oracle] = {}
        self._variants: dict[tuple[str, str], dict[str, str]] = {}

    def close(self) -> None:
        """Release what the hidden tests hold."""
        self._judge.close()

    def prepare(self, name: str) -> None:
        """Load what the judging of an assignment's answers needs, before processes are forked."""
        assignment = load_assignment(self._course, name)
        self._judge.suite(assignment)
        load_table(assignment.table)
        self._oracles[name] = Oracle(assignment, experiments_of(self._course), times=EXPERIMENTS)
        for case in all_cases(self._course, assignment, "", ["variant"]):
            self._variants[name, case.id] = case.answers

    def judge(self, answer: Answer) -> Answer:
        """Fill in what comes of an answer."""
        assignment = load_assignment(self._course, answer.assignment)
        answer.is_formula = any(
            quantity.formula
            for sample in assignment.exercises[answer.exercise].samples
            for quantity in sample.quantities
        )
        # The notebook in which this cell alone was changed.
        variant = self._variants[answer.assignment, answer.variant]
        alone = {**variant, answer.exercise: answer.source}
        case = Case("mutant", "unseen", answer.assignment, {answer.exercise: "", **alone})
        verdicts = list(self._judge.verdicts(case))
        answer.killed = not all(passed for _, passed in verdicts)
        if any(test == ENDLESS for test, _ in verdicts):
            answer.differs, answer.raised = True, "ran out of time"
            return answer
        if answer.kind == RIGHT:
            entry = self._table(assignment)[answer.exercise]
            found = diagnose(entry, assignment.namespace(**alone))
            answer.false = "a hidden test" if answer.killed else found.says if found else ""
            return answer
        answer.differs = self._oracles[answer.assignment].differs(answer.exercise, alone)
        about = answer.exercise
        if answer.differs and not answer.killed:
            about = self._spoiled(assignment, about, alone) or about
            answer.killed = about != answer.exercise
        if answer.killed and answer.is_wrong:
            try:
                with (
                    same_recursion_limit(),
                    time_limit(5 * SECONDS),
                    redirect_stdout(StringIO()),
                    redirect_stderr(StringIO()),
                ):
                    self._tell(answer, assignment, assignment.exercises[about], alone)
            except (Exception, OutOfTime) as error:
                answer.raised = f"{type(error).__name__}: {error}"
        return answer

    def _spoiled(self, assignment: Assignment, exercise: str, cells: dict[str, str]) -> str:
        """Another exercise that loses points by a cell which writes its part anew; "" if none."""
        trainings = load_settings(self._course).limits.trainings
        for other in assignment.exercises.values():
            if other.id in (exercise, *trainings) or other.form or other.manual:
                continue
            answers = {other.id: other.solution, **cells}
            verdicts = self._judge.verdicts(Case("mutant", "", assignment.name, answers))
            if not all(passed for _, passed in verdicts):
                return other.id
        return ""

    def _table(self, assignment: Assignment) -> dict[str, Any]:
        exercises: dict[str, Any] = load_table(assignment.table)["exercises"]
        return exercises

    def _tell(
        self, answer: Answer, assignment: Assignment, exercise: Exercise, alone: dict[str, str]
    ) -> None:
        """What a student would read of an exercise, in the order in which it is looked for."""
        table = self._table(assignment)
        entry = table[exercise.id]
        scope = assignment.namespace(**alone)
        observed = [play(probe, scope) for probe in exercise.probes]
        suite = self._judge.suite(assignment)
        target = LocalTarget(scope, assignment.data_folder)
        seed = self._seed.encode()
        verdicts = list(suite.run(exercise.id, lambda _: target, seed))
        diagnosis = Diagnosis(assignment, suite, table, seed)
        mistake = diagnosis.name(exercise, verdicts, observed)
        known = None if mistake else match(entry, observed)
        answer.named = mistake.id if mistake else known["id"] if known else ""
        right = [probe["right"] for probe in entry["probes"]]
        answer.raised = explain(observed, right, assignment.hints)
        if answer.named or answer.raised:
            return
        # Where another cell spoils what is seen, that cell's working version takes its place.
        whole = assignment.namespace(**answer.cells)
        if not agree_all([play(probe, whole) for probe in exercise.probes], observed):
            whole = scope
        shown = [play(probe, whole) for probe in exercise.sample_probes]
        found = infer(entry, shown)
        if found:
            answer.inferred = found.says
            answer.false = untrue(found, assignment, exercise, whole, self._seed)
        elif first_error(shown):
            # The example that is told then is the one that stops.
            expected = [row for sample in entry["samples"] for row in sample["right"]]
            answer.raised = explain(shown, expected, assignment.hints)


def untrue(
    found: Inference,
    assignment: Assignment,
    exercise: Exercise,
    scope: dict[str, Any],
    seed: str,
) -> str:
    """Where an explanation's models, run on fresh points, do not give what the code gives."""
    rng = random.Random(seed)
    if found.behaviour:
        number, chosen = found.behaviour
        source = exercise.behaviours[number].source(chosen)
        model_scope = assignment.namespace(**{exercise.id: source})
        for sample in exercise.samples:
            for point in fresh_points(sample, rng, FRESH):
                probe = _probe_at(sample, point)
                if not alike(play(probe, scope), play(probe, model_scope)):
                    return f"the model differs at {point}"
    for model in found.models:
        sample = exercise.samples[model.sample]
        quantity = sample.quantities[model.quantity]
        for point in fresh_points(sample, rng, FRESH):
            if not holds(model.region, point):
                continue
            seen = play(_probe_at(sample, point), scope)[model.quantity]
            right = evaluate(quantity.formula, point) if quantity.formula else None
            says = model.value(point, right)
            if not alike(seen, says):
                return f"{quantity.name} at {point} is {seen}, and the model gives {says}"
    return ""


def _probe_at(sample: Sample, point: dict[str, float]) -> Probe:
    [probe] = sample_probes([{**sample.as_table, "points": [[point[n] for n in sample.names]]}])
    return probe


@dataclass
class Unseen:
    """What came of a sample of unseen answers."""

    seed: str
    answers: list[Answer] = field(default_factory=list)

    @property
    def wrong(self) -> list[Answer]:
        """The answers that compute otherwise than the solution."""
        return [each for each in self.answers if each.is_wrong]

    @property
    def survivors(self) -> list[Answer]:
        """The wrong ones that pass all hidden tests."""
        return [each for each in self.wrong if not each.killed]

    @property
    def computing(self) -> list[Answer]:
        """The wrong ones that lost points and stop with no error: what they compute is a question.

        Of the others the error is told, with the student's own line.
        """
        return [each for each in self.wrong if each.killed and (each.named or not each.raised)]

    @property
    def untold(self) -> list[Answer]:
        """Those of which nothing is told but what came out."""
        return [each for each in self.computing if not each.is_explained]

    @property
    def false(self) -> list[Answer]:
        """The explanations that do not hold."""
        return [each for each in self.answers if each.false and each.kind != RIGHT]

    @property
    def alarms(self) -> list[Answer]:
        """The right answers of which something is said."""
        return [each for each in self.answers if each.false and each.kind == RIGHT]


def unseen(course: Path, names: list[str], seed: str, size: int, workers: int) -> Unseen:
    """Draw `size` unseen answers to each assignment, and judge them in so many processes."""
    result = Unseen(seed)
    drawn = [
        each
        for name in names
        for each in answers(course, load_assignment(course, name), seed, size)
    ]
    parts = [drawn[i :: 2 * workers] for i in range(2 * workers)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        running = [processes.submit(_judge_all, course, seed, part) for part in parts if part]
        for future in as_completed(running):
            result.answers += future.result()
    result.answers.sort(key=lambda each: (each.assignment, each.exercise, each.source))
    return result


def _judge_all(course: Path, seed: str, part: list[Answer]) -> list[Answer]:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    judge = UnseenJudge(course, seed)
    for name in sorted({each.assignment for each in part}):
        judge.prepare(name)
    try:
        return [_judged(judge, each) for each in part]
    finally:
        judge.close()


def _judged(judge: UnseenJudge, answer: Answer) -> Answer:
    """The answer, judged in a process of its own: some code takes its process down."""
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: sender.send(judge.judge(answer)))
    process.start()
    sender.close()
    try:
        if receiver.poll(ANSWER_SECONDS):
            found: Answer = receiver.recv()
            return found
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
    # The grader says as much of a process that was lost.
    answer.differs, answer.killed, answer.raised = True, True, "the process was lost"
    return answer
