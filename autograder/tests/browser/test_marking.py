"""If several people mark in the formgrader at once, no mark that one of them stored is lost."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from campaigns import seed, size
from looking import assert_accessible, keep_picture
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, Route, expect
from schools import released, run, solutions
from serving import Lab, serve

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.gradebook import history
from autograder.gradebook.by_hand import Snapshot, take_snapshots

NAME = "checkpoint"
STUDENTS = ("ada", "ben", "cleo", "dan")
LOADED = "window.formgrader?.loaded && formgrader.grades?.loaded && formgrader.comments?.loaded"


@dataclass
class Class:
    """A course with a graded class, and a running formgrader."""

    lab: Lab
    versions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STUDENTS, 0))

    def hand_in(self, *students: str) -> None:
        """Hand in new answers to the questions that a person marks, and grade."""
        course = self.lab.course
        assignment, answers = Course(course).assignment(NAME), {}
        for each in students:
            self.versions[each] += 1
            written = {
                exercise.id: f"Answer {self.versions[each]} of {each}: $x^2$"
                for exercise in assignment.exercises.values()
                if exercise.manual
            }
            answers[each] = {**solutions(NAME), **written}
        hand_in(Course(course), assignment, answers)
        run(course, "autograder", "grade", NAME)

    def marks(self) -> dict[str, dict[str, Snapshot]]:
        """Return the marks in the gradebook by student and exercise."""
        with Gradebook(f"sqlite:///{self.lab.course}/gradebook.db") as gradebook:
            return {
                each.student.id: {
                    seen["exercise"]: seen
                    for seen in take_snapshots(gradebook.db.connection(), each.id).values()
                }
                for each in gradebook.notebook_submissions(NAME, NAME)
            }

    def in_order(self) -> list[tuple[str, str]]:
        """Return the id of each submission and its student, in the formgrader's order."""
        with Gradebook(f"sqlite:///{self.lab.course}/gradebook.db") as gradebook:
            submissions = gradebook.notebook_submissions(NAME, NAME)
            return sorted((each.id, each.student.id) for each in submissions)


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    course = released(tmp_path_factory.mktemp("marking") / "course", NAME)
    (course.parent / "home").mkdir()
    with serve(course, course.parent / "home") as lab:
        school = Class(lab)
        school.hand_in(*STUDENTS)
        yield school


class Marker:
    """A person with a browser that can reach only this machine."""

    def __init__(self, school: Class, page: Page, elsewhere: list[str]) -> None:
        self.school, self.page, self.elsewhere = school, page, elsewhere
        self.sent: list[str] = []
        page.on("request", lambda asked: self.sent.append(asked.method + asked.url)
                if asked.method == "PUT" else None)  # fmt: skip
        page.on("dialog", lambda dialog: dialog.accept())
        page.context.request.get(school.lab.address("login"), max_redirects=0)

    def open(self, student: str) -> None:
        [key] = [key for key, whose in self.school.in_order() if whose == student]
        self.page.goto(f"{self.school.lab.url}/formgrader/submissions/{key}/")
        self.wait()

    def wait(self) -> None:
        self.page.wait_for_function(LOADED)

    def type(self, where: str, text: str, key: str = "Tab") -> int:
        """Type into a field, leave it by pressing a key, and return the status of the server's
        reply."""
        self.page.locator(f"#{where}").fill(text)
        with self.page.expect_response(lambda got: got.request.method == "PUT") as got:
            self.page.locator(f"#{where}").press(key)
        return got.value.status

    @property
    def notice(self) -> Any:
        return self.page.get_by_role("alertdialog")

    def decide(self, words: str) -> None:
        self.notice.get_by_role("button", name=words).press("Enter")


@pytest.fixture
def marker(browser: Browser, school: Class) -> Iterator[Callable[[], Marker]]:
    """Return a function that opens a browser of its own."""
    contexts, elsewhere = [], []

    def route(asked: Route) -> None:
        if asked.request.url.startswith(school.lab.url):
            asked.continue_()
        else:
            elsewhere.append(asked.request.url)
            asked.abort()

    def make() -> Marker:
        contexts.append(browser.new_context(viewport={"width": 1200, "height": 900}))
        contexts[-1].set_default_timeout(300_000)
        contexts[-1].route("**/*", route)
        return Marker(school, contexts[-1].new_page(), elsewhere)

    yield make
    for context in contexts:
        context.close()
    assert elsewhere == []


def test_leaving_a_field_without_typing_stores_nothing(
    school: Class, marker: Callable[[], Marker]
) -> None:
    [(key, first), (second, _), *_] = school.in_order()
    tired, busy = marker(), marker()
    for each in (tired, busy):
        each.open(first)
    assert busy.type("memory", "2") == 200
    assert busy.type("q1-comment", "Say more.") == 200
    before = school.marks()
    assert before[first]["memory"]["manual_score"] == 2
    tired.page.locator("#q1-comment").focus()
    tired.page.keyboard.press("Control+.")
    tired.page.wait_for_url(f"**/{second}/**")
    tired.wait()
    tired.page.locator("#memory").focus()
    tired.page.keyboard.press("Control+,")
    tired.page.wait_for_url(f"**/{key}/**")
    tired.wait()
    # The points of an answer that has changed are for a person to confirm.
    school.hand_in(first)
    tired.open(first)
    assert school.marks()[first]["memory"]["needs_manual_grade"]
    tired.page.locator("#memory").focus()
    tired.page.keyboard.press("Control+.")
    tired.page.wait_for_url(f"**/{second}/**")
    now = school.marks()[first]
    assert tired.sent == []
    assert now["memory"]["needs_manual_grade"]
    assert (now["memory"]["manual_score"], now["q1"]["manual_comment"]) == (2, "Say more.")
    tired.open(first)
    assert tired.page.evaluate("$(':animated').length") == 0, "a click is lost while it scrolls"
    with tired.page.expect_response(lambda got: got.request.method == "PUT"):
        tired.page.get_by_role("button", name="Resolve").first.click()
    assert not school.marks()[first]["memory"]["needs_manual_grade"]


def test_the_second_of_two_people_who_mark_is_shown_both_marks_and_chooses(
    school: Class, marker: Callable[[], Marker]
) -> None:
    [*_, (_, last)] = school.in_order()
    late, early = marker(), marker()
    for each in (late, early):
        each.open(last)
    here = late.page.url
    assert early.type("memory", "1") == 200
    assert early.type("memory-comment", "One pass for which input?") == 200
    assert late.type("memory", "3", "Control+.") == 409
    expect(late.notice).to_contain_text("Not stored yet: somebody else marked this exercise")
    expect(late.notice.get_by_role("row", name="Points")).to_contain_text("13")
    assert late.page.url.partition("?")[0] == here.partition("?")[0]
    assert school.marks()[last]["memory"]["manual_score"] == 1
    for width in (1200, 360):
        late.page.set_viewport_size({"width": width, "height": 900})
        late.notice.scroll_into_view_if_needed()
        assert late.page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(late.page, ".conflict")
        keep_picture(late.page, f"marking-conflict-{width}")
    late.decide("Keep what is in the gradebook")
    expect(late.notice).to_have_count(0)
    expect(late.page.locator("#memory")).to_have_value("1")
    expect(late.page.locator("#memory-comment")).to_have_value("One pass for which input?")
    assert early.type("memory-comment", "Half of it.") == 200
    assert late.type("memory", "2") == 409
    late.decide("Store what I typed")
    expect(late.notice).to_have_count(0)
    late.page.wait_for_function("$('.score-saved.glyphicon-ok').length > 0")
    expect(late.page.locator("#memory-comment")).to_have_value("Half of it.")
    late.page.keyboard.press("Control+.")  # It leaves when all is stored.
    late.page.wait_for_url(f"**/gradebook/{NAME}/{NAME}")
    mark = school.marks()[last]["memory"]
    assert (mark["manual_score"], mark["manual_comment"]) == (2, "Half of it.")

    with Gradebook(f"sqlite:///{school.lab.course}/gradebook.db") as gradebook:
        read = history.texts(gradebook.db.connection(), NAME, last, "memory")
    assert read == {mark["answer"]: f"Answer {school.versions[last]} of {last}: $x^2$"}

    late.open(last)
    school.hand_in(last)
    assert late.type("memory-comment", "As before.") == 409
    expect(late.notice).to_contain_text("the student's answer has changed")
    keep_picture(late.page, "marking-another-answer")
    late.decide("Show the new answer")
    late.wait()
    expect(late.page.get_by_text(f"Answer {school.versions[last]} of {last}").first).to_be_visible()
    expect(late.page.locator("#memory-comment")).to_have_value("Half of it.")


def test_points_above_the_maximum_or_below_0_are_refused_with_a_reason(
    school: Class, marker: Callable[[], Marker]
) -> None:
    [_, (_, second), *_] = school.in_order()
    one, before = marker(), school.marks()
    one.open(second)
    for text, reason in (("9", "9 is more than the 3 points"), ("-1", "cannot be below 0")):
        one.page.locator("#memory").fill(text)
        one.page.keyboard.press("Control+.")
        expect(one.page.locator(".refused")).to_contain_text(reason)
        expect(one.page.locator("#memory")).to_have_value(text)
    keep_picture(one.page, "marking-refused")
    one.page.locator("#memory").fill("")
    one.page.locator("#memory").press_sequentially("-")
    one.page.keyboard.press("Control+.")
    expect(one.page.locator(".refused")).to_contain_text("not a number")
    assert one.sent == []
    assert school.marks() == before
    # What a page sends that has none of this is refused as well.
    url = one.page.evaluate("formgrader.grades.findWhere({name: 'memory'}).url()")
    seen = before[second]["memory"]
    for body in ({"manual_score": 1}, {"manual_score": 9, "seen": seen},
                 {"manual_score": "1", "seen": seen}, {"extra_credit": -1, "seen": seen},
                 {"extra_credit": True, "seen": seen}):  # fmt: skip
        headers = {"X-CSRFToken": one.page.evaluate("getCookie('_xsrf')")}
        got = one.page.request.put(f"{school.lab.url}{url}", data=body, headers=headers)
        assert got.status == 400, body
    assert school.marks() == before


# Many steps of two people, with a model of the gradebook.

FIELDS = {
    # By the field's id: the exercise, the column, and the values that are typed.
    "memory": ("memory", "manual_score", ["", "0", "1", "2.5", "3"]),
    "memory_extra_credit": ("memory", "extra_credit", ["", "1", "2"]),
    "memory-comment": ("memory", "manual_comment", ["", "Good.", "Which pass?\n\nSay more."]),
    "test_q2": ("q2", "manual_score", ["0", "0.5", "1"]),
    "q1-comment": ("q1", "manual_comment", ["So what?", "See above."]),
    "test_q1": ("q1", "manual_score", ["", "0.5", "1"]),
    "test_q1_extra_credit": ("q1", "extra_credit", ["", "0.5"]),
}


class Walk:
    """Two people who act at random, and the expected content of the gradebook after each action."""

    def __init__(self, school: Class, markers: list[Marker], chance: random.Random) -> None:
        self.school, self.chance = school, chance
        self.people = {each: name for each, name in zip(markers, "AB", strict=True)}
        self.order = [student for _, student in school.in_order()]
        self.marks = school.marks()
        self.at: dict[Marker, str] = {}
        self.pages: dict[tuple[Marker, int], tuple[str, dict[str, Snapshot]]] = {}
        self.did: list[str] = []
        for each in markers:
            self.open(each)

    # What a page shows is kept by a number in the page, which a browser that goes back may keep.

    def seen(self, who: Marker) -> dict[str, Snapshot]:
        """Return, by exercise, the values that a page shows."""
        return self.pages[who, who.page.evaluate("window.shownAt")][1]

    def arrive(self, who: Marker, student: str) -> None:
        who.wait()
        number = who.page.evaluate(f"window.shownAt ??= {len(self.pages)}")
        copy = {name: dict(seen) for name, seen in self.marks[student].items()}
        self.pages.setdefault((who, number), (student, copy))
        self.at[who] = student

    def open(self, who: Marker) -> None:
        student = self.chance.choice(self.order)
        who.open(student)
        self.arrive(who, student)

    def reload(self, who: Marker) -> None:
        who.page.reload()
        self.arrive(who, self.at[who])

    def back(self, who: Marker) -> None:
        who.page.go_back()
        key = who.page.url.partition("/submissions/")[2].partition("/")[0]
        students = dict(self.school.in_order())
        if key in students:
            self.arrive(who, students[key])
        else:
            self.open(who)

    def passed(self, who: Marker, forward: bool) -> None:
        """Wait for the next page after a key that leads to it."""
        place = self.order.index(self.at[who]) + (1 if forward else -1)
        if 0 <= place < len(self.order):
            key = self.school.in_order()[place][0]
            who.page.wait_for_url(f"**/submissions/{key}/**")
            self.arrive(who, self.order[place])
        else:
            who.page.wait_for_url(f"**/gradebook/{NAME}/{NAME}")
            self.open(who)

    def pass_by(self, who: Marker) -> None:
        forward, sent = self.chance.random() < 0.7, len(who.sent)
        who.page.locator(f"#{self.chance.choice([*FIELDS])}").focus()
        who.page.keyboard.press("Control+." if forward else "Control+,")
        self.passed(who, forward)
        assert len(who.sent) == sent, "passing by sent a request"

    def type(self, who: Marker) -> None:
        where = self.chance.choice([*FIELDS])
        exercise, column, texts = FIELDS[where]
        page, mark = self.seen(who), self.marks[self.at[who]][exercise]
        old, moves_on = as_shown(page[exercise][column]), self.chance.random() < 0.3
        text = self.chance.choice([each for each in texts if each != old])
        self.did[-1] += f" {where} {old!r} → {text!r}{' and on' if moves_on else ''}"
        is_current, is_other = page[exercise] == mark, page[exercise]["answer"] != mark["answer"]
        status = who.type(where, text, "Control+." if moves_on else "Tab")
        assert status == (200 if is_current else 409)
        if not is_current:
            moves_on = False
            expect(who.notice).to_be_visible()
            if self.chance.random() < 0.5:
                self.did[-1] += ", and keeps the other's"
                who.decide("Show the new answer" if is_other else "Keep what is in the gradebook")
                expect(who.notice).to_have_count(0)
                page[exercise] = dict(mark)
                if is_other:
                    self.arrive(who, self.at[who])
                return
            self.did[-1] += ", and stores it"
            with who.page.expect_response(lambda got: got.request.method == "PUT") as got:
                who.decide("Store what I typed")
            assert got.value.status == 200
        mark[column] = None if text == "" else text if column == "manual_comment" else float(text)
        if column != "manual_comment":
            mark["needs_manual_grade"] = mark["manual_score"] is mark["auto_score"] is None
        page[exercise] = dict(mark)
        if moves_on:
            self.passed(who, True)
        else:
            who.page.wait_for_function("!$('.glyphicon-refresh').length")

    def grade(self, _: Marker) -> None:
        """Submit other answers of a student, and grade them."""
        student = self.chance.choice(self.order)
        self.school.hand_in(student)
        now = self.school.marks()[student]
        mark, answer = self.marks[student]["memory"], now["memory"]["answer"]
        assert answer != mark["answer"]
        mark |= {"answer": answer, "needs_manual_grade": True}

    def step(self) -> None:
        who = self.chance.choice([*self.people])
        kinds = {self.open: 2, self.reload: 1, self.back: 2, self.pass_by: 5, self.type: 9}
        if len(self.did) % 40 == 20:
            kinds = {self.grade: 1}
        [what] = self.chance.choices([*kinds], [*kinds.values()])
        self.did.append(f"{self.people[who]}, at {self.at[who]}: {what.__name__}")
        what(who)
        assert self.school.marks() == self.marks


def as_shown(value: Any) -> str:
    """Return a value as text, in the form in which a field shows it."""
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.sized
def test_no_mark_is_lost_if_two_people_mark_at_once(
    school: Class, marker: Callable[[], Marker]
) -> None:
    chosen = seed(20260301)
    print(f"seed {chosen}")
    walk = Walk(school, [marker(), marker()], random.Random(chosen))
    try:
        for _ in range(size(25, 200)):
            walk.step()
    except BaseException:
        print("\n".join(walk.did))
        raise
