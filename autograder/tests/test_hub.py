"""A student's server on the hub sees only its own files, and only complete submissions are
collected."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attacks.folders import exchanging
from campaigns import size
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeSubmit
from programs import run_program
from tested_course import COURSE
from traitlets.config import Config

import autograder
from autograder.errors import CourseError, UnreadableNotebook
from autograder.hub import exchange
from autograder.hub.box import command, desktop_sockets
from autograder.hub.exchange import CollectFromEach, copy_new_submissions
from autograder.hub.folders import INSTRUCTOR, HubFolder, prepare
from autograder.notebook.intake import (
    copy_receipts,
    find_notebook,
    parse_time,
    read_plain_file,
    submitted_at,
)

LOOK = """
import getpass, json, os, sys
from pathlib import Path
seen = {}
def attempt(name, action):
    try:
        seen[name] = bool(action())
    except (OSError, ImportError) as error:
        seen[name] = type(error).__name__
hub, source = Path(sys.argv[1]), Path(sys.argv[2])
shared = hub / "exchange" / "numbers"
attempt("passwords", lambda: (hub / "passwords").read_text())
attempt("source", lambda: list(source.iterdir()))
attempt("course", lambda: list((hub / "course").iterdir()))
attempt("hub", lambda: list((hub / "hub").iterdir()))
attempt("neighbour", lambda: list((hub / "homes" / "blaise").iterdir()))
attempt("autograder", lambda: __import__("autograder"))
attempt("shadow", lambda: Path("/etc/shadow").read_text())
attempt("feedback list", lambda: list((shared / "feedback").iterdir()))
attempt("feedback mode", lambda: (shared / "feedback").chmod(0o777) or True)
attempt("released change", lambda: (shared / "outbound" / "value" / "x").write_text("x"))
attempt("own feedback", lambda: (shared / "feedback" / "known-name.html").read_text())
attempt("inbound", lambda: os.listdir(shared / "inbound") == ["mine"])
attempt("released", lambda: list((shared / "outbound").iterdir()))
attempt("checks", lambda: __import__("coursecheck"))
attempt("home", lambda: Path("note").write_text("x") and Path.cwd() == hub / "homes" / "ada")
attempt("processes", lambda: [p for p in os.listdir("/proc") if p.isdigit() and int(p) > 20])
seen["who"] = getpass.getuser() if not os.environ.pop("USER", 0) else ""
import pwd
seen["account"] = pwd.getpwuid(os.getuid()).pw_name
print(json.dumps(seen))
"""

COURSE_ID = COURSE.settings.id


@pytest.fixture(scope="module")
def hub(tmp_path_factory) -> HubFolder:
    """Return a hub's folder with a released assignment, and a secret in every place."""
    folder = HubFolder(tmp_path_factory.mktemp("hub") / "hub")
    # The course takes long to make, and is not under test here.
    folder.course.source.mkdir(parents=True)
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copyfile(COURSE.root / name, folder.course.root / name)
    prepare(COURSE, folder.root, ["ada", "blaise"])
    shared = folder.exchange / COURSE_ID
    (shared / "outbound" / "value").mkdir()
    (shared / "feedback" / "known-name.html").write_text("for ada")
    (folder.home("blaise") / "value.ipynb").write_text("blaise's")
    (folder.inbound("ada") / "mine").mkdir()
    return folder


@pytest.mark.subprocess
def test_a_student_sees_their_own_files_only(hub):
    line = command(hub, "ada", [sys.executable, "-c", LOOK, str(hub.root), str(COURSE.source)])
    environment = {"PATH": os.environ["PATH"], "HOME": str(hub.home("ada"))}
    seen = json.loads(run_program(line, env=environment).stdout)
    for secret in ("passwords", "source", "course", "hub", "neighbour", "shadow"):
        assert seen[secret] == "FileNotFoundError", secret
    assert seen["autograder"] == "ModuleNotFoundError"
    assert seen["feedback list"] == "PermissionError"
    assert seen["feedback mode"] == seen["released change"] == "OSError"
    for own in ("own feedback", "inbound", "released", "checks", "home"):
        assert seen[own] is True, own
    assert seen["processes"] is False
    assert seen["account"] == "jovyan"


@pytest.mark.subprocess
def test_the_installed_autograder_is_hidden_from_users_of_the_hub(hub, tmp_path, monkeypatch):
    """An autograder holds misconceptions, and may lie below a folder that the box shows."""
    packages = tmp_path / "lib" / "site-packages"
    for name in ("autograder", "other"):
        (packages / name).mkdir(parents=True)
        (packages / name / "reference.py").touch()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(autograder, "__file__", str(packages / "autograder" / "__init__.py"))
    line = command(hub, "ada", ["/bin/sh", "-c", 'ls -A "$0"/*; touch "$0"/autograder/x', packages])
    done = run_program(line, status=None)

    assert done.stdout.split() == [
        f"{packages}/autograder:", f"{packages}/other:", "reference.py"
    ]  # fmt: skip
    assert "Read-only" in done.stderr


def test_abstract_sockets_of_a_desktop_are_found():
    listing = """Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 27133 @/tmp/.X11-unix/X0
0000000000000000: 00000003 00000000 00000000 0001 03 28801 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00010000 0001 01 27134 /tmp/.X11-unix/X0
0000000000000000: 00000003 00000000 00000000 0001 03 28804
0000000000000000: 00000002 00000000 00010000 0001 01 27135 /home/ada/not @dbus-1
"""
    assert desktop_sockets(listing) == ["@/tmp/.X11-unix/X0"]
    assert desktop_sockets(listing.replace("@", "")) == []


@pytest.mark.subprocess
def test_every_user_has_a_password_that_a_second_run_keeps(hub):
    before = hub.users()
    assert set(before) == {INSTRUCTOR, "ada", "blaise"}
    assert len(set(before.values())) == 3
    prepare(COURSE, hub.root, ["ada", "carl"])
    after = hub.users()
    assert {name: after[name] for name in before} == before
    assert "carl" in after
    assert hub.passwords.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../ada", "Ada", "a b", "", INSTRUCTOR, "a+b"])
def test_an_ambiguous_user_name_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match="cannot be a student's name"):
        prepare(COURSE, tmp_path / "hub", [name])
    assert not (tmp_path / "hub").exists()


@pytest.fixture
def inbound(tmp_path) -> Path:
    folder = tmp_path / "exchange" / COURSE_ID / "inbound"
    folder.mkdir(parents=True)
    return folder


def _submission(student: Path, name: str, complete: bool = True) -> Path:
    folder = student / name
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_text("{}")
    (folder / "timestamp.txt").write_text("2130-03-01 10:00:00.000000 UTC")
    if complete:
        (folder / "submission_secret.txt").write_text("secret")
    return folder


def test_only_complete_submissions_with_the_student_s_own_name_are_collected(
    tmp_path, inbound, caplog
):
    ada = tmp_path / "ada"
    good = _submission(ada, "ada+value+2030-03-01 10:00:00.000000 UTC+x")
    _submission(ada, "blaise+value+2030-03-01 10:00:00.000000 UTC+y")
    _submission(ada, "ada+value+2030-03-02 10:00:00.000000 UTC+z", complete=False)
    linked = _submission(ada, "ada+value+2030-03-03 10:00:00.000000 UTC+l")
    (linked / "secret.ipynb").symlink_to(tmp_path / "gradebook.db")
    (tmp_path / "gradebook.db").write_text("marks")
    (ada / "ada+value+2030-03-04 10:00:00.000000 UTC+k").symlink_to(good)
    copy_new_submissions(ada, inbound, logging.getLogger())

    assert [path.name for path in inbound.iterdir()] == [good.name]
    assert sorted(os.listdir(inbound / good.name)) == sorted(os.listdir(good))
    assert "does not bear its student's name" in caplog.text
    assert "link" in caplog.text


def test_submissions_of_one_student_take_a_bounded_amount_of_disk_space(
    tmp_path, inbound, caplog, monkeypatch
):
    monkeypatch.setattr(exchange, "MOST_BYTES", 10_000)
    for day in range(1, 9):
        # By any name that an assignment might have.
        own = _submission(tmp_path / "ada", f"ada+v{day}+2030-03-0{day} 10:00:00.000000 UTC")
        (own / "value.ipynb").write_text("{}" + " " * 900)
        (own / "data.txt").write_text(" " * 2000)
    large = _submission(tmp_path / "ada", "ada+x+2030-03-01 10:00:00.000000 UTC")
    (large / "value.ipynb").write_text(" " * 1100)
    for student in ("ada", "blaise"):
        _submission(tmp_path / student, f"{student}+value+2030-03-09 10:00:00.000000 UTC")
        copy_new_submissions(tmp_path / student, inbound, logging.getLogger())
    # Whatever was handed in before, a notebook without outputs finds room.
    taken = {path.name.split(" ")[0] for path in inbound.iterdir()}
    assert {"ada+value+2030-03-09", "blaise+value+2030-03-09"} <= taken
    assert "ada+x+2030-03-01" not in taken
    assert "there is no room" in caplog.text
    files = [path for path in inbound.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10_000
    assert not [path for path in files if path.name == "data.txt"]


@pytest.mark.parametrize(
    "claim", ["2020-03-01 10:00:00.000000 UTC", "2020-03-01", "", "never", None, "1 1 /dev/zero"]
)
def test_the_time_of_submission_is_not_before_that_of_its_files(tmp_path, inbound, claim):
    ada = tmp_path / "ada"
    submission = _submission(ada, "ada+value+2020-03-01 10:00:00.000000 UTC+x")
    (submission / "timestamp.txt").unlink()
    if claim is not None:
        (submission / "timestamp.txt").write_text(claim)
    for path in [*submission.iterdir(), submission]:
        os.utime(path, (0, 0))  # The kernel sets the ctime.
    os.utime(ada, (0, 0))
    copy_new_submissions(ada, inbound, logging.getLogger())
    [made] = inbound.iterdir()
    age = datetime.now(UTC).replace(tzinfo=None) - submitted_at(made)

    assert timedelta(0) <= age < timedelta(minutes=5)


def test_a_file_that_is_changed_after_handing_in_is_as_late_as_the_change(tmp_path, inbound):
    ada = tmp_path / "ada"
    submission = _submission(ada, "ada+value+2020-03-01 10:00:00.000000 UTC+x")
    (submission / "timestamp.txt").write_text("2020-03-01 10:00:00.000000 UTC")
    written = (submission / "submission_secret.txt").stat().st_ctime
    while time.time() < written + 0.1:  # The kernel's clock for files is coarse.
        (submission / "value.ipynb").write_text("{ }")
    copy_new_submissions(ada, inbound, logging.getLogger())
    [made] = inbound.iterdir()

    assert submitted_at(made).replace(tzinfo=UTC).timestamp() > written


def test_of_two_times_of_submission_the_later_one_counts(tmp_path, inbound):
    ada = tmp_path / "ada"
    _submission(ada, "ada+value+2030-03-01 10:00:00.000000 UTC+x")
    copy_new_submissions(ada, inbound, logging.getLogger())
    [made] = inbound.iterdir()

    assert submitted_at(made) == datetime(2130, 3, 1, 10)


SECONDS_OF_EXCHANGE = size(12, 100) / 10
"""Least number of seconds for which an attack is repeated, unless it succeeds earlier."""


def rounds(read: set[str], honest: set[str]) -> Iterator[None]:
    """Repeat until the attack has succeeded, or its time is over and the honest files were read."""
    until = time.monotonic() + SECONDS_OF_EXCHANGE
    while "the solution" not in read and (time.monotonic() < until or not honest <= read):
        yield


@pytest.mark.parametrize(
    "text",
    ["2026-01-01 10:00 ../../../etc/passwd", "2026-01-01 10:00 " + "A" * 300, "1." * 50_000, "",
     "2026-01-01 10:00 Europe/../Berlin", "2026-13-01 10:00:00 UTC", "\0", "٣" * 20],
)  # fmt: skip
def test_a_text_that_is_no_timestamp_of_nbgrader_is_ignored(text):
    assert parse_time(text) is None


@pytest.mark.parametrize(
    "text",
    ["2030-03-01 10:00:00 UTC", "2030-03-01 10:00:00.000000 UTC", "2030-03-01T10:00:00+00:00",
     "2030-03-01 11:00:00 +0100\n", "2030-03-01 10:00:00", "2030-03-01 11:00:00 Europe/Berlin"],
)  # fmt: skip
def test_timestamps_of_nbgrader_are_read(text):
    assert parse_time(text) == datetime(2030, 3, 1, 10)


def test_an_error_at_one_student_s_files_does_not_stop_the_collecting_of_others(
    tmp_path, monkeypatch, caplog
):
    taken = []

    def take(student, *args):
        if student.name == "ada":
            raise RecursionError("ada's")
        taken.append(student.name)

    for name in ("ada", "blaise"):
        (tmp_path / "hub" / name).mkdir(parents=True)
    monkeypatch.setattr(exchange, "copy_new_submissions", take)
    monkeypatch.setattr(exchange.ExchangeCollect, "init_src", lambda self: None)
    collect = CollectFromEach(
        folder=str(tmp_path / "hub"), coursedir=CourseDirectory(course_id="course")
    )
    collect.init_src()

    assert taken == ["blaise"]


def _taken_while_exchanged(student: Path, inbound: Path, one: Path, other: Path) -> set[str]:
    """Return the contents of the notebooks that are collected while two files swap their names."""
    taken: set[str] = set()
    with exchanging(one, other):
        for _ in rounds(taken, {"{}"}):
            copy_new_submissions(student, inbound, logging.getLogger("silent"))
            for made in inbound.iterdir():
                taken.add((made / "value.ipynb").read_text())
                shutil.rmtree(made)
    return taken


@pytest.mark.subprocess
@pytest.mark.sized
@pytest.mark.parametrize(
    ("own", "target"),
    [("", "source/value"), ("value.ipynb", "source/value/value.ipynb")],
    ids=["folder", "file"],
)
def test_a_link_that_is_swapped_with_a_submission_is_never_followed(tmp_path, inbound, own, target):
    secret = tmp_path / "source" / "value"
    secret.mkdir(parents=True)
    (secret / "value.ipynb").write_text("the solution")
    ada = tmp_path / "ada"
    submission = _submission(ada, "ada+value+2030-03-01 10:00:00.000000 UTC+x")
    link = ada / "link" if not own else submission / "value.link"
    link.symlink_to(tmp_path / target)

    assert _taken_while_exchanged(ada, inbound, submission / own, link) == {"{}"}


@pytest.mark.subprocess
@pytest.mark.sized
def test_grading_never_follows_a_link_that_is_swapped_with_a_submission(tmp_path):
    """Students can write to the folder of submissions here."""
    secret = tmp_path / "source" / "value"
    secret.mkdir(parents=True)
    (secret / "value.ipynb").write_text("the solution")
    (secret / "timestamp.txt").write_text("the solution")
    submission = _submission(tmp_path / "submitted" / "ada", "value")
    link = tmp_path / "link"
    link.symlink_to(secret)
    read: set[str] = set()
    honest = {"{}", "2130-03-01 10:00:00.000000 UTC"}
    with exchanging(submission, link):
        for _ in rounds(read, honest):
            with suppress(UnreadableNotebook):
                path = find_notebook(submission, "value")
                read.add(read_plain_file(path, levels=2).decode())
            copy_receipts(submission, tmp_path)
            with suppress(FileNotFoundError):
                read.add((tmp_path / "timestamp.txt").read_text())

    assert read == honest


def test_a_submission_made_twice_is_collected_once(tmp_path, inbound):
    ada = tmp_path / "ada"
    first = _submission(ada, "ada+value+2030-03-01 10:00:00.000000 UTC+x")
    copy_new_submissions(ada, inbound, logging.getLogger())
    (first / "value.ipynb").write_text("changed after collecting")
    copy_new_submissions(ada, inbound, logging.getLogger())

    assert (inbound / first.name / "value.ipynb").read_text() == "{}"


@pytest.mark.subprocess
def test_nbgrader_collects_through_the_hub_s_exchange_what_nbgrader_submitted(
    tmp_path, inbound, monkeypatch
):
    """Use nbgrader's own classes, each on its own side of the exchange."""
    (inbound.parent / "outbound" / "value").mkdir(parents=True)
    work = tmp_path / "home"
    (work / "value").mkdir(parents=True)
    (work / "value" / "value.ipynb").write_text("{}")
    course = tmp_path / "course"
    course.mkdir()
    config = Config()
    config.Exchange.root = str(inbound.parents[1])
    config.Exchange.assignment_dir = str(work)
    config.Exchange.cache = str(tmp_path / "cache")
    config.CourseDirectory.course_id = COURSE_ID
    config.CourseDirectory.assignment_id = "value"
    config.CourseDirectory.student_id = "ada"
    config.CourseDirectory.root = str(course)
    each = tmp_path / "each"
    config.CollectFromEach.folder = str(each)
    config.ExchangeCollect.check_owner = False
    directory = CourseDirectory(config=config)
    ExchangeSubmit(
        coursedir=directory, authenticator=Authenticator(config=config), config=config
    ).start()
    # On the hub, the student's view of `inbound` is a folder of their own.
    each.mkdir()
    inbound.rename(each / "ada")
    inbound.mkdir()
    # Files by which a student might stop collecting for all.
    for name in ("ben+value+never+x", "ben+value", "ben+value+2030-03-01 10:00:00.000000 UTC+x+y"):
        _submission(each / "ben", name)
    (each / "cid").write_text("a file")
    (each / "dora").symlink_to(each / "ada")
    CollectFromEach(coursedir=directory, config=config).start()
    collected = course / "submitted" / "ada" / "value"

    assert (collected / "value.ipynb").read_text() == "{}"
    assert (collected / "timestamp.txt").exists()
    assert os.listdir(course / "submitted") == ["ada"]
