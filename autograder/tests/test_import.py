"""Downloads of learning management systems are imported, with all files of each student."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import struct
import sys
import unicodedata
import zipfile
import zlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from campaigns import seed, size
from click.testing import CliRunner
from downloads import canvas, gradescope, moodle, zipped
from nbgrader.api import Gradebook
from programs import run_program
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.errors import CourseError, UnreadableNotebook
from autograder.files import replace_folder
from autograder.lms.archives import DownloadedFile, nested_download
from autograder.lms.importing import import_download, read_record
from autograder.notebook.intake import MAX_BYTES
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.subprocess

LISTED = "submission_metadata.yml"
NOON = datetime(2030, 3, 1, 12, 0)
LATER = NOON + timedelta(hours=5)
STUDENTS = {
    # id: first name, last name, address, number in the system
    "s1": ("Jürgen", "Müller", "jm@example.org", "101"),
    "s2": ("Ana María", "de la Cruz", "ana@example.org", "102"),
    "s3": ("Kim", "Lee", "kim.lee@example.org", "103"),
    "s4": ("Kim", "Lee", "kim.lee.2@example.org", "104"),
    "s5": ("Søren", "Ångström", None, None),
    "s6": ("王", "小明", "wang@example.org", "106"),
    "s7": ("Ada", "O'Brien-Smith", "ada@example.org", "107"),
}


@pytest.fixture(scope="module")
def course_made_once(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("import") / "course"
    copy_course(COURSE, folder)
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        for student, (first, last, email, lms) in STUDENTS.items():
            gradebook.add_student(
                student, first_name=first, last_name=last, email=email, lms_user_id=lms
            )
    return folder


@pytest.fixture
def school(course_made_once, tmp_path) -> Path:
    # Only files that are read are copied.
    folder = tmp_path / "course"
    folder.mkdir()
    for path in course_made_once.iterdir():
        if path.name == "gradebook.db":
            (folder / path.name).write_bytes(path.read_bytes())
        else:
            (folder / path.name).symlink_to(path)
    return folder


def brought(school: Path, download: Path, dry_run: bool = False, **more: object) -> dict[str, str]:
    """Import a download; return the state of each submission, by student or, if the student is
    unknown, by place."""
    found = import_download(Course(school), "value", download, dry_run=dry_run, **more)
    return {each.student or each.place: each.state for each in found}


def submitted(school: Path) -> dict[str, bytes]:
    return {
        path.parts[-3]: path.read_bytes() for path in school.glob("submitted/*/value/value.ipynb")
    }


def time_of(school: Path, student: str) -> str:
    return (school / "submitted" / student / "value" / "timestamp.txt").read_text()


PEOPLE = [("Jürgen Müller", 4711, b"1", NOON), ("Ana María de la Cruz", 4712, b"2", LATER)]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("old", [False, True])
def test_a_moodle_download_in_each_form_is_imported_with_times_and_numbers(
    school, tmp_path, flat, old
):
    download = moodle(tmp_path / "m.zip", PEOPLE, flat, old)
    assert brought(school, download) == {"s1": "new", "s2": "new"}
    assert submitted(school) == {"s1": b"1", "s2": b"2"}
    expected = LATER.astimezone(UTC)
    assert time_of(school, "s2") == f"{expected:%Y-%m-%d %H:%M:%S.%f} UTC"
    record = read_record(Course(school), "value")["s1"]
    assert record["form"] == "moodle"
    assert record["numbers"] == ["4711"]
    assert record["prefix"].startswith("Jürgen Müller_4711_assignsubmission_file")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("onlinetext/onlinetext.html", "file/value.ipynb"),
        ("onlinetext.html", "file_value.ipynb"),
        ("onlinetext.html", "file/my work/value-Copy1.ipynb"),
        ("onlinetext/onlinetext.html", "file/work.zip"),
    ],
)
def test_moodle_s_text_beside_a_file_belongs_to_the_same_submission(
    school, tmp_path, text, file, first
):
    zip_file = zipped(tmp_path / "work.zip", [("work/value.ipynb", b"1", NOON)]).read_bytes()
    [(name, number, content, when), _] = PEOPLE
    own = f"{name}_{number}_assignsubmission_"
    parts = [
        (own + text, b"see file", NOON),
        (own + file, zip_file if file.endswith(".zip") else content, when),
    ]
    download = zipped(tmp_path / "m.zip", parts if first else parts[::-1])

    assert brought(school, download) == {"s1": "new"}
    assert submitted(school) == {"s1": b"1"}
    record = read_record(Course(school), "value")["s1"]
    assert record["prefix"].startswith(f"{own}file")


def test_moodle_s_text_without_a_file_replaces_no_notebook(school, tmp_path):
    brought(school, moodle(tmp_path / "1.zip", PEOPLE))
    [(name, number, _, _), _] = PEOPLE
    text = (f"{name}_{number}_assignsubmission_onlinetext.html", b"I was ill", LATER)
    brought(school, zipped(tmp_path / "2.zip", [text]))
    assert submitted(school) == {"s1": b"1", "s2": b"2"}


def test_downloads_of_cocalc_and_teams_are_imported(school, tmp_path):
    parts = [
        ("value-collect/0a1b/value.ipynb", b"1", NOON),
        ("value-collect/0a1b/STUDENT - Jürgen Müller.txt", b"", NOON),
        ("value-collect/0a1b/mine/STUDENT - Kim Lee.txt", b"", NOON),
        ("value-collect/0c2d/value.ipynb", b"2", NOON),
        ("value-collect/0c2d/STUDENT - Kim Lee.txt", b"", NOON),
        ("value-collect/0c2d/STUDENT - Ana María de la Cruz.txt", b"", NOON),
    ]
    found = import_download(
        Course(school), "value", zipped(tmp_path / "c.zip", parts), dry_run=True
    )
    assert {each.student for each in found if each.state == "new"} == {"s1"}
    teams = [
        (f"Ana María de la Cruz/Value/Version {number}/value.ipynb", b"%d" % number, NOON)
        for number in (2, 10, 9)
    ]
    assert brought(school, zipped(tmp_path / "t.zip", teams)) == {"s2": "new"}
    assert submitted(school) == {"s2": b"10"}


def test_names_are_matched_in_any_spelling_and_order(school, tmp_path):
    names = {
        "s1": [unicodedata.normalize("NFD", "Jürgen Müller"), "Müller Jürgen", "JUERGEN MUELLER",
               "Jurgen Muller", "Juergen Müller", "Gruppe 3-Jürgen Müller", " jürgen  müller "],
        "s5": ["Soeren Aangstroem", "Soren Angstrom", "ångström, søren"],
        "s6": ["王 小明", "小明王"],
        "s7": ["Ada O’Brien Smith", "Ada OBrien-Smith"],
    }  # fmt: skip
    for student, forms in names.items():
        for name in forms:
            download = moodle(tmp_path / "m.zip", [(name, 1, b"x", NOON)])
            assert brought(school, download, dry_run=True) == {student: "new"}, name


def test_students_with_the_same_name_are_matched_only_with_a_worksheet(school, tmp_path):
    people = [("Kim Lee", 21, b"three", NOON), ("Kim Lee", 22, b"four", LATER)]
    download = moodle(tmp_path / "m.zip", people)
    assert set(brought(school, download).values()) == {"unmatched"}
    assert submitted(school) == {}
    worksheet = tmp_path / "grades.csv"
    worksheet.write_text(
        "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
        'Participant 22,Kim Lee,kim.lee.2@example.org,Submitted,,"Friday, 1 March 2030, 9:05 PM"\n'
        "Participant 21,Kim Lee,KIM.LEE@example.org,Submitted,,-\n"
    )
    assert brought(school, download, worksheet=worksheet) == {"s3": "new", "s4": "new"}
    assert submitted(school) == {"s3": b"three", "s4": b"four"}
    given = datetime(2030, 3, 1, 21, 5).astimezone(UTC)
    assert time_of(school, "s4").startswith(f"{given:%Y-%m-%d %H:%M}")


def test_a_canvas_download_is_imported(school, tmp_path):
    download = canvas(
        tmp_path / "c.zip",
        [
            ("müllerjürgen", False, 101, 9001, "value.ipynb", b"1"),
            ("leekim", True, 104, 9002, "value-2.ipynb", b"4"),
            ("leekim", True, 104, 9003, "notes.txt", b"a note"),
            # Not in the gradebook by its number; the name is enough.
            ("ångströmsøren", False, 999, 9004, "my work.ipynb", b"5"),
            ("nobodyknown", False, 998, 9005, "value.ipynb", b"?"),
        ],
    )
    found = import_download(Course(school), "value", download)
    states = {each.student or each.place: (each.state, each.late) for each in found}

    assert states == {
        "s1": ("new", False),
        "s4": ("new", True),
        "s5": ("new", False),
        "nobodyknown_998": ("unmatched", False),
    }
    assert submitted(school) == {"s1": b"1", "s4": b"4", "s5": b"5"}
    assert (school / "submitted/s4/value/notes.txt").read_bytes() == b"a note"
    # The zip has the time of the download, and none of a submission.
    assert not list(school.glob("submitted/*/value/timestamp.txt"))


def test_a_canvas_number_is_not_matched_with_a_student_id(school, tmp_path):
    with Gradebook(course_directory(Course(school)).db_url) as gradebook:
        gradebook.add_student("9999", first_name="Eve", last_name="Else")
    download = canvas(tmp_path / "c.zip", [("unknown", False, 9999, 1, "value.ipynb", b"x")])

    assert brought(school, download) == {"unknown_9999": "unmatched"}


def test_the_later_of_two_canvas_files_counts(school, tmp_path):
    def at(attachment: int, content: bytes) -> Path:
        one = ("müllerjürgen", False, 101, attachment, "value.ipynb", content)
        return canvas(tmp_path / "c.zip", [one])

    assert brought(school, at(9005, b"second")) == {"s1": "new"}
    assert brought(school, at(9001, b"first")) == {"s1": "older"}
    assert brought(school, at(9009, b"third")) == {"s1": "newer"}
    assert submitted(school) == {"s1": b"third"}
    [aside] = school.glob("imported/value/replaced/s1/*/value.ipynb")
    assert aside.read_bytes() == b"second"


def test_a_gradescope_export_gives_each_student_of_a_group_a_copy(school, tmp_path):
    there = timezone(timedelta(hours=-8))
    download = gradescope(
        tmp_path / "g.zip",
        [
            ([{"name": "Somebody", "sid": "s3", "email": "x@x"}], NOON.replace(tzinfo=there), b"3"),
            ([{"name": "Kim Lee", "sid": "?", "email": "Kim.Lee.2@example.org"},
              {"name": "Jürgen Müller", "sid": "??", "email": "jm@example.org"}],
             LATER.replace(tzinfo=there), b"both"),
            ([{"name": "A Guest", "sid": "77", "email": "guest@x"}], NOON, b"?"),
        ],
    )  # fmt: skip
    states = brought(school, download)

    assert states == {"s3": "new", "s4": "new", "s1": "new", "submission_702": "unmatched"}
    assert submitted(school) == {"s3": b"3", "s4": b"both", "s1": b"both"}
    assert time_of(school, "s3") == "2030-03-01 20:00:00.000000 UTC"


def test_yaml_tags_in_a_gradescope_export_are_read_as_plain_data(school, tmp_path):
    text = b"""submission_1: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
  :submitters:
  - :name: Kim Lee
    :sid: s3
  :created_at: 2030-03-01 12:00:00.123 Z
submission_2:
  :submitters: !!python/object/apply:os.system [touch hacked]
"""
    root = "assignment_9_export/"
    download = zipped(
        tmp_path / "g.zip",
        [(f"{root}submission_metadata.yml", text, NOON),
         (f"{root}submission_1/value.ipynb", b"3", NOON)],
    )  # fmt: skip
    with pytest.raises(CourseError, match="is not what Gradescope writes"):
        brought(school, download)
    assert not Path("hacked").exists()
    good = text.partition(b"submission_2")[0]
    zipped(download, [(f"{root}submission_metadata.yml", good, NOON),
                      (f"{root}submission_1/value.ipynb", b"3", NOON)])  # fmt: skip
    assert brought(school, download) == {"s3": "new"}
    assert time_of(school, "s3").startswith("2030-03-01 12:00:00.123")


@pytest.mark.parametrize(
    "name",
    [
        "s3.ipynb", "S3/value.ipynb", "class/s3/deep/value.ipynb", "value_s3.ipynb",
        "s3 - value.ipynb", "submitted/s3/value/value.ipynb", "kim.lee@example.org/my.ipynb",
        "s3\\value.ipynb", "s3/Value (2).ipynb", "s3/value-1.IPYNB",
    ],
)  # fmt: skip
def test_students_are_found_anywhere_in_the_paths_of_a_plain_zip(school, tmp_path, name):
    download = zipped(tmp_path / "p.zip", [(name, b"3", NOON), ("readme.txt", b"", NOON)])
    assert brought(school, download) == {"s3": "new", "readme.txt": "left out"}
    assert submitted(school) == {"s3": b"3"}


def test_a_folder_of_github_classroom_is_one_submission(school, tmp_path):
    names = ["value-s3/README.md", "value-s3/value.ipynb", "value-s3/.github/classroom.yml"]
    entries = [(f"{root}{name}", name.encode(), NOON) for root in ("", "a/") for name in names[:3]]

    assert brought(school, zipped(tmp_path / "g.zip", entries[:3])) == {"s3": "new"}
    assert submitted(school) == {"s3": b"value-s3/value.ipynb"}
    assert (school / "submitted/s3/value/README.md").exists()
    assert brought(school, zipped(tmp_path / "g.zip", entries[3:]))["s3"] == "same"


BLACKBOARD = "Value_{}_attempt_2030-03-{}-08-00-00"
BRIGHTSPACE = "{} - {} - {}, 2030 {}/value.ipynb"
SAKAI = "Value/{}/Submission attachment(s)/value.ipynb"


@pytest.mark.parametrize(
    ("form", "names", "newest"),
    [
        ("blackboard", [BLACKBOARD.format("s1", "05") + ".txt",
                        BLACKBOARD.format("s1", "05") + "_value.ipynb",
                        BLACKBOARD.format("s1", "06") + "_value.ipynb",
                        BLACKBOARD.format("s2", "05") + "_my_value.ipynb"], 2),
        ("brightspace", ["index.html",
                         BRIGHTSPACE.format("11-7", "Jürgen Müller", "Mar 5", "1105 AM"),
                         BRIGHTSPACE.format("11-8", "Jürgen Müller", "Mar 5", "105 PM"),
                         BRIGHTSPACE.format("1-9", "Ana María de la Cruz", "Apr 1", "1200 AM")], 2),
        ("ilias", ["Blatt/Abgaben/Müller_Jürgen_s1_301/20300305110500_301_value.ipynb",
                   "Blatt/Abgaben/de la Cruz_Ana María_s2_302/value.ipynb"], 0),
        ("sakai", ["Value/grades.csv", SAKAI.format("Müller, Jürgen(s1)"),
                   "Value/Müller, Jürgen(s1)/timestamp.txt",
                   SAKAI.format("de la Cruz, Ana María(s2)")], 1),
    ],
)  # fmt: skip
def test_downloads_of_other_systems_are_imported(school, tmp_path, form, names, newest):
    entries = [(name, name.encode(), NOON) for name in names]
    assert brought(school, zipped(tmp_path / "d.zip", entries))["s1"] == "new"
    assert submitted(school) == {"s1": names[newest].encode(), "s2": names[-1].encode()}
    assert read_record(Course(school), "value")["s1"]["form"] == form


NAMED = {
    "moodle": "{first} {last}_47{number}_assignsubmission_file/",
    "canvas": "name_{number}_9{number}_",
    "gradescope": "assignment_9_export/submission_{number}/",
    "blackboard": "Value_{id}_attempt_2030-03-05-08-00-00_",
    "brightspace": "11-{number} - {first} {last} - Mar 5, 2030 1105 AM/",
    "ilias": "Blatt/Abgaben/{last}_{first}_{id}_{number}/",
    "sakai": "Value/{last}, {first}({id})/",
    "plain": "{id}/",
}
"""Beginnings of the paths of a student's files, by system."""


@pytest.mark.parametrize("form", NAMED)
def test_nothing_that_a_student_wrote_is_read_as_a_time_of_submission(school, tmp_path, form):
    def begin(student: str) -> str:
        first, last, _, number = STUDENTS[student]
        return NAMED[form].format(id=student, first=first, last=last, number=number)

    def records_with(hers: bytes, times: list[datetime]) -> dict[str, dict[str, bytes]]:
        """Return what an import stores, by student, with the reported time."""
        entries = [
            (begin("s1") + "value.ipynb", b"1", times[0]),
            (begin("s2") + "value.ipynb", b"2", times[1]),
            (begin("s7") + "value.zip", hers, times[2]),
        ]
        if form == "gradescope":
            listed = {
                f"submission_{STUDENTS[each][3]}": {
                    ":submitters": [{":name": "x", ":sid": each}],
                    ":created_at": f"{when} UTC",
                }
                for each, when in zip(("s1", "s2", "s7"), times, strict=True)
            }
            text = yaml.safe_dump(listed).encode()
            entries.append((f"assignment_9_export/{LISTED}", text, NOON))
        found = import_download(Course(school), "value", zipped(tmp_path / "d.zip", entries))
        stored = {
            each.student: {"when": each.when.encode(), "clock": each.clock.encode()}
            for each in found
        }
        for path in (school / "submitted").rglob("*"):
            if path.is_file():
                inner = path.relative_to(school / "submitted")
                stored[inner.parts[0]]["/".join(inner.parts[2:])] = path.read_bytes()
        shutil.rmtree(school / "submitted")
        shutil.rmtree(school / "imported")
        return stored

    own_list = {f"submission_{STUDENTS['s1'][3]}": {":submitters": [], ":created_at": "2001-01-01"}}
    inner_times = [datetime(1980, 1, 1), datetime(2001, 5, 6), NOON, datetime(2107, 12, 31)]
    for times in ([NOON] * 3, [NOON, LATER, NOON]):
        untouched = records_with(nested(), times)
        known = form == "gradescope" or (times[1] == LATER and form != "canvas")
        assert bool(untouched["s1"]["when"]) == bool(untouched["s7"]["when"]) == known
        if known:
            assert untouched["s7"]["when"] == untouched["s1"]["when"]
        for when in inner_times:
            files = {
                "value.ipynb": b"{}",
                "timestamp.txt": b"2001-01-01 00:00:00 UTC",
                LISTED: yaml.safe_dump(own_list).encode(),
                begin("s1") + "other.ipynb": b"forged",
                begin("s2").partition("/")[0] + ".zip": nested(),
            }
            entries = [(name, content, when) for name, content in files.items()]
            inner = zipped(tmp_path / "inner.zip", entries).read_bytes()
            packed = zipped(tmp_path / "outer.zip", [("in.zip", inner, when), entries[0]])
            for hers in (inner, packed.read_bytes()):
                stored = records_with(hers, times)
                for student in ("s1", "s2"):
                    assert stored[student] == untouched[student]
                for key in ("when", "clock", "timestamp.txt"):
                    assert stored["s7"].get(key) == untouched["s7"].get(key)


def test_a_list_of_submissions_inside_a_submission_is_not_used(school, tmp_path):
    for form in ("moodle", "brightspace", "ilias", "sakai", "plain"):
        folder = NAMED[form].format(id="s1", first="Jürgen", last="Müller", number="101")
        for name in ("", "assignment_9_export/"):
            listed = {"x": {":submitters": [{":name": "x", ":sid": "s2"}]}}
            entries = [
                (f"{folder}{name}{LISTED}", yaml.safe_dump(listed).encode(), NOON),
                (f"{folder}{name}x/value.ipynb", b"1", NOON),
            ]
            download = zipped(tmp_path / "d.zip", entries)
            assert brought(school, download, dry_run=True) == {"s1": "new"}
            with pytest.raises(CourseError, match="as it was downloaded"):
                brought(school, download, form="gradescope")


def test_the_command_reports_which_times_of_submission_it_used(school, tmp_path):
    def told(*times: datetime) -> str:
        names = "Jürgen Müller", "Ana María de la Cruz", "王 小明"
        people = [(name, 1 + len(name), b"", when) for name, when in zip(names, times, strict=True)]
        download = moodle(tmp_path / "m.zip", people)
        line = ["import", "value", str(download), "--dry-run", "--course", str(school)]
        return CliRunner().invoke(main, line).output

    assert "times of submission: 3 unknown, which count as in time" in told(NOON, NOON, NOON)
    several = told(NOON, LATER, LATER + timedelta(1))
    assert "times of submission: 3 by the download's times of files" in several
    assert "the same for all but" not in several
    assert "the same for all but s6" in told(NOON, NOON, LATER)
    assert "the same for all but s2" in told(LATER, NOON, LATER)


@pytest.mark.parametrize("name", [".", "", "a/.", "d/" * 2_500 + "x.csv", "x" * 5_000 + ".csv"])
def test_a_file_with_a_hostile_name_is_not_imported_or_unpacked(school, tmp_path, name):
    inner = zipped(tmp_path / "in.zip", [("value.ipynb", b"1", NOON), (name, b"2", NOON)])
    entries = [("s1/work.zip", inner.read_bytes(), NOON), ("s2/value.ipynb", b"2", NOON)]
    entries.append((f"s2/{name}", b"3", NOON))
    states = brought(school, zipped(tmp_path / "d.zip", entries))

    assert {states["s1"], states["s2"]} == {"new"}
    assert submitted(school) == {"s1": b"1", "s2": b"2"}
    assert not [*school.glob("submitted/*/.*")]


def test_a_failed_write_of_a_folder_leaves_no_file(tmp_path):
    with pytest.raises(CourseError, match="could not be written"):
        replace_folder(tmp_path / "value", {"": b"a folder's own name"}, None)
    assert not [*tmp_path.iterdir()]


def test_programs_and_settings_files_are_reported_and_not_imported(school, tmp_path):
    kept = [
        "value.ipynb",
        "data/a.csv",
        "README.md",
        "my config.json",
        "a.b.PNG",
        "source/v/v.ipynb",
    ]
    programs = [
        "course.toml", "helper.py", "nbgrader_config.py", "jupyter_server_config.json", ".env",
        ".github/a.yml", "Makefile", "grading_tests/test_v.py", "a.pth", "b.so",
    ]  # fmt: skip
    entries = [(f"s1/{name}", name.encode(), NOON) for name in kept + programs]
    [found] = import_download(Course(school), "value", zipped(tmp_path / "d.zip", entries))
    folder = school / "submitted/s1/value"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    assert found.state == "new"
    assert there == {*kept}
    assert ".env, .github/a.yml, Makefile, a.pth, b.so and 5 more" in found.detail


SECOND = BLACKBOARD.format("s2", "09") + "_value.ipynb"
INNER = "Müller_Jürgen_s1_301"


@pytest.mark.parametrize("says_form", [False, True])
@pytest.mark.parametrize(
    ("form", "own", "forged"),
    [
        ("blackboard", BLACKBOARD.format("s2", "05") + "_value.ipynb",
         f"{BLACKBOARD.format('s1', '05')}_x_{SECOND}"),
        ("canvas", "cruz_102_2001_value.ipynb", f"muller_101_2002_{SECOND}"),
        ("canvas", "cruz_102_2001_value.ipynb", "muller_101_2002_cruz_102_9_value.ipynb"),
        ("plain", "s2/value.ipynb", "s1/x_y_s2_1/value.ipynb"),
        ("plain", "s2/value.ipynb", "s1/a, b(s2)/value.ipynb"),
        ("plain", "s2/value.ipynb", f"s1/{SECOND}"),
        ("plain", "s2/value.ipynb", "s1/Ana María de la Cruz_4712_assignsubmission_file/v.ipynb"),
        ("ilias", "de la Cruz_Ana María_s2_302/value.ipynb", f"{INNER}/s2/value.ipynb"),
        ("ilias", "de la Cruz_Ana María_s2_302/value.ipynb",
         f"{INNER}/1-2 - Ana María de la Cruz - Mar 9, 2030 800 AM/value.ipynb"),
        ("sakai", "Value/de la Cruz, Ana María(s2)/value.ipynb",
         "Value/Müller, Jürgen(s1)/a_b_s2_1/value.ipynb"),
    ],
)  # fmt: skip
def test_a_student_s_file_name_cannot_replace_the_file_of_another_student(
    school, tmp_path, form, own, forged, says_form
):
    """A student may give a file or a folder any name."""
    download = zipped(tmp_path / "d.zip", [(own, b"own", NOON), (forged, b"forged", NOON)])
    brought(school, download, **({"form": form} if says_form else {}))

    assert submitted(school).get("s2") == b"own"
    assert submitted(school).get("s1") in (None, b"forged")


def test_a_list_of_submissions_in_a_student_s_folder_is_ignored(school, tmp_path):
    folder, other = (f"{name}_{number}_assignsubmission_file/" for name, number, *_ in PEOPLE)
    entry = {
        ":submitters": [{":name": "x", ":sid": "s2"}],
        ":created_at": "2031-01-01 00:00:00 UTC",
    }
    listed = yaml.safe_dump({"value.ipynb": entry}).encode()
    entries = [
        (f"{folder}value.ipynb", b"1", NOON),
        (f"{folder}submission_metadata.yml", listed, NOON),
        (f"{other}value.ipynb", b"2", NOON),
    ]

    assert brought(school, zipped(tmp_path / "d.zip", entries)) == {"s1": "new", "s2": "new"}
    assert submitted(school) == {"s1": b"1", "s2": b"2"}


def test_a_plain_folder_with_a_folder_for_each_student_is_imported(school, tmp_path):
    for student, content in (("s1", "1"), ("s2", "2"), ("stranger", "?")):
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "value.ipynb").write_text(content)
    (tmp_path / "in" / "s1" / "data.csv").write_text("1,2")
    (tmp_path / "in" / "s2" / "link.ipynb").symlink_to("/etc/passwd")
    states = brought(school, tmp_path / "in")

    assert states == {
        "s1": "new", "s2": "new", "stranger/value.ipynb": "unmatched",
        f"{tmp_path}/in/s2/link.ipynb": "refused",
    }  # fmt: skip
    assert (school / "submitted/s1/value/data.csv").read_text() == "1,2"


def test_the_names_of_google_s_downloads_are_read(school, tmp_path):
    names = ["s1 - value.ipynb", "Copy of value.ipynb - s2"]
    download = zipped(tmp_path / "p.zip", [(name, name.encode(), NOON) for name in names])

    assert brought(school, download) == {"s1": "new", "s2": "new"}


def test_the_newest_copy_of_a_notebook_counts_and_older_copies_are_kept(school, tmp_path):
    download = zipped(
        tmp_path / "p.zip",
        [("s1/value.ipynb", b"0", NOON), ("s1/value (1).ipynb", b"1", NOON),
         ("s1/value (10).ipynb", b"10", NOON), ("s2/a.ipynb", b"a", NOON),
         ("s2/b.ipynb", b"b", NOON)],
    )  # fmt: skip
    assert brought(school, download) == {"s1": "new", "s2": "refused"}
    assert submitted(school) == {"s1": b"10"}
    assert (school / "submitted/s1/value/value (1).ipynb").read_bytes() == b"1"
    mapping = tmp_path / "mapping.csv"
    mapping.write_text("file;student\ns2/b.ipynb;s2\ns1;\n")
    assert brought(school, download, mapping=mapping) == {"s1": "same", "s2": "new"}
    assert submitted(school)["s2"] == b"b"


def test_a_zip_that_a_student_handed_in_is_unpacked_without_path_traversal(school, tmp_path):
    inner = zipped(tmp_path / "inner.zip", [("work/value.ipynb", b"1", NOON),
                                            ("work/../../../x", b"!", NOON)])  # fmt: skip
    name = "Jürgen Müller_1_assignsubmission_file/work.zip"
    download = zipped(tmp_path / "m.zip", [(name, inner.read_bytes(), NOON)])

    assert brought(school, download) == {"s1": "new"}
    assert submitted(school) == {"s1": b"1"}


def test_importing_again_changes_nothing_and_keeps_newer_submissions(school, tmp_path):
    first = moodle(tmp_path / "1.zip", PEOPLE)
    brought(school, first)
    before = {path: path.stat().st_mtime_ns for path in (school / "submitted").rglob("*")}
    assert brought(school, first) == {"s1": "same", "s2": "same"}
    assert {path: path.stat().st_mtime_ns for path in (school / "submitted").rglob("*")} == before
    newer = [(name, number, b"new", when + timedelta(1)) for name, number, _, when in PEOPLE]
    assert set(brought(school, moodle(tmp_path / "2.zip", newer)).values()) == {"newer"}
    assert set(brought(school, first).values()) == {"older"}
    assert submitted(school) == {"s1": b"new", "s2": b"new"}
    assert sorted(path.read_bytes() for path in school.glob("imported/**/value.ipynb")) == [
        b"1", b"2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<html>Log in", "web page"),
        (b"%PDF-1.7\n1 0 obj << >> endobj\n", "PDF"),
        (b"", "empty"),
        (b'{"cells": [{"cell_ty', "cut off"),
        (b'{"cells": [{"cell_type": "code", "source": "1 + 1"}]}', "another notebook"),
        (filled_notebook(COURSE, "checkpoint", {}).encode(), "another notebook"),
    ],
)
def test_a_file_that_holds_nothing_to_grade_replaces_no_notebook(school, tmp_path, content, says):
    right = filled_notebook(Course(school), "value", {}).encode()
    rows = [(name, number, right, when) for name, number, _, when in PEOPLE]
    brought(school, moodle(tmp_path / "1.zip", rows))
    later = [(*row[:2], content, row[3] + timedelta(1)) for row in rows]
    found = import_download(Course(school), "value", moodle(tmp_path / "2.zip", later))

    assert [each.state for each in found] == ["refused"] * 2
    assert says in found[0].detail
    assert submitted(school) == {"s1": right, "s2": right}


def test_submissions_that_were_not_imported_are_not_overwritten(school, tmp_path):
    folder = school / "submitted" / "s1" / "value"
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_bytes(b"from elsewhere")
    [imported] = import_download(Course(school), "value", moodle(tmp_path / "m.zip", PEOPLE[:1]))
    assert imported.state == "older"
    assert "nothing says which is newer" in imported.detail
    mapping = tmp_path / "map.csv"
    mapping.write_text("file,student,submitted\nJürgen Müller_4711_assignsubmission_file,s1,x\n")
    with pytest.raises(CourseError, match="'x' is no time"):
        brought(school, tmp_path / "m.zip", mapping=mapping)
    assert submitted(school) == {"s1": b"from elsewhere"}


def test_a_dry_run_writes_nothing(school, tmp_path):
    before = sorted(school.rglob("*"))
    assert brought(school, moodle(tmp_path / "m.zip", PEOPLE), dry_run=True)["s1"] == "new"
    assert [path for path in sorted(school.rglob("*")) if path.name != ".autograder_lock"] == before


def test_a_killed_import_can_be_continued(school, tmp_path, monkeypatch):
    """Kill it at the one moment at which the old one is away and the new one not there."""
    brought(school, moodle(tmp_path / "1.zip", PEOPLE))
    newer = [(name, number, b"new", when + timedelta(1)) for name, number, _, when in PEOPLE]
    download = moodle(tmp_path / "2.zip", newer)
    rename, calls = Path.rename, []

    def killed(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        brought(school, download)
    monkeypatch.undo()

    assert set(brought(school, download).values()) == {"new", "newer"}
    assert submitted(school) == {"s1": b"new", "s2": b"new"}
    assert len([*school.glob("imported/**/value.ipynb")]) == 2


@pytest.mark.parametrize(
    "name",
    ["../../evil/value.ipynb", "/etc/evil/value.ipynb", "s1/../../value.ipynb",
     "C:\\evil\\value.ipynb", "..\\..\\evil.ipynb", "s1/a\nb/value.ipynb", "s1/" + "x" * 300],
)  # fmt: skip
def test_entries_with_path_traversal_in_their_name_are_refused(school, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    download = zipped(tmp_path / "p.zip", [(name, b"!", NOON), ("s2/value.ipynb", b"2", NOON)])
    states = brought(school, download)
    assert states.pop("s2") == "new"
    assert [*states.values()] == ["refused"]
    made = {path for path in sorted(tmp_path.rglob("*")) if path not in before}
    assert {path.relative_to(tmp_path).parts[0] for path in made} == {"course", "p.zip"}
    assert submitted(school) == {"s2": b"2"}


def test_symlinks_zip_bombs_and_encrypted_entries_affect_only_their_student(school, tmp_path):
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        link = zipfile.ZipInfo("s1/value.ipynb")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        with archive.open("s2/value.ipynb", "w", force_zip64=True) as bomb:
            for _ in range(MAX_BYTES // (1 << 20) + 2):
                bomb.write(bytes(1 << 20))
        archive.writestr("s3/value.ipynb", b"3")
        archive.writestr("s4/value.ipynb", b"4" * 1000)
        archive.writestr("s5/value.ipynb", b"5", compress_type=zipfile.ZIP_LZMA)
    content = bytearray(path.read_bytes())
    at = content.find(b"s4/value.ipynb") + 20
    content[at : at + 4] = b"\xff\xff\xff\xff"  # The entry's data are damaged.
    path.write_bytes(content)
    states = brought(school, path)

    assert states == {
        "s1/value.ipynb": "refused", "s5/value.ipynb": "refused",
        "s2": "refused", "s3": "new", "s4": "refused",
    }  # fmt: skip
    assert submitted(school) == {"s3": b"3"}


def nested(entries: int = 1, flags: int = 0) -> bytes:
    """Return a zip of a notebook and `entries` empty files, with these flags for each entry."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("value.ipynb", b"{}")
        for number in range(entries):
            archive.writestr(f"{number}.txt", b"")
    content = made.getvalue()
    for kind, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)) if flags else ():
        at = content.find(kind)
        while at >= 0:
            content = content[: at + place] + bytes([flags, 0]) + content[at + place + 2 :]
            at = content.find(kind, at + 4)
    return content


@pytest.mark.parametrize(
    "content",
    [nested(3_000), nested(flags=1 << 5), nested(flags=1 << 6), nested()[:-30],
     nested().replace(b"value.ipynb", b"value.ip\x00nb")],
    ids=["many names", "patched data", "strong encryption", "cut off", "a null in a name"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["moodle", "plain"])
def test_a_student_s_own_zip_never_ends_the_import_of_a_class(school, tmp_path, content, form):
    where = "Jürgen Müller_4711_assignsubmission_file" if form == "moodle" else "s1"
    other = "王 小明_4712_assignsubmission_file" if form == "moodle" else "s6"
    download = zipped(
        tmp_path / "m.zip",
        [(f"{where}/my.zip", content, NOON), (f"{other}/value.ipynb", b"6", NOON)],
    )
    found = import_download(Course(school), "value", download)
    states = {each.student: each for each in found}

    assert states["s6"].state == "new"
    assert submitted(school) == {"s6": b"6"}
    assert states["s1"].state == "refused"
    assert "my.zip" in states["s1"].detail


def test_damaged_zips_raise_no_unexpected_error():
    draw = random.Random(seed(39))
    whole = nested(4)
    for _ in range(size(2_000, 60_000)):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        found = nested_download(
            DownloadedFile("a.zip", None, lambda content=bytes(content): content)
        )
        for file in found.files:
            with suppress(UnreadableNotebook):
                file.read()


def test_an_entry_that_unpacks_to_more_than_its_stated_size_is_refused(school, tmp_path):
    raw = zlib.compressobj(wbits=-15)
    body = raw.compress(bytes(MAX_BYTES + 10)) + raw.flush()
    name = b"s1/value.ipynb"
    head = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, 0, len(body), 100, len(name), 0)
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 33, 0, len(body), 100,
                        len(name), 0, 0, 0, 0, 0, 0)  # fmt: skip
    start = len(head) + len(name) + len(body)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(entry) + len(name), start, 0)
    path = tmp_path / "p.zip"
    path.write_bytes(head + name + body + entry + name + end)

    assert brought(school, path) == {"s1": "refused"}


@pytest.mark.parametrize("encoding", ["utf-8", "cp437"])
def test_names_without_an_encoding_flag_are_read(school, tmp_path, encoding):
    name = "Jürgen Müller_1_assignsubmission_file/value.ipynb"
    stand_in = "x" * len(name.encode(encoding))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(stand_in, b"1")
    path = tmp_path / "m.zip"
    path.write_bytes(made.getvalue().replace(stand_in.encode(), name.encode(encoding)))

    assert brought(school, path) == {"s1": "new"}


def test_a_folder_unpacked_with_a_wrong_encoding_is_imported(school, tmp_path):
    folder = os.fsencode(tmp_path / "in") + b"/J\xfcrgen M\xfcller_1_assignsubmission_file"
    os.makedirs(folder)
    with open(folder + b"/value.ipynb", "wb") as file:
        file.write(b"1")

    assert brought(school, tmp_path / "in") == {"s1": "new"}


def test_hidden_files_of_operating_systems_and_jupyter_are_not_imported(school, tmp_path):
    download = zipped(
        tmp_path / "p.zip",
        [("__MACOSX/s1/._value.ipynb", b"", NOON), ("s1/.DS_Store", b"", NOON),
         ("s1/.ipynb_checkpoints/value-checkpoint.ipynb", b"old", NOON),
         ("s1/value.ipynb", b"1", NOON)],
    )  # fmt: skip
    assert brought(school, download) == {"s1": "new"}
    assert os.listdir(school / "submitted/s1/value") == ["value.ipynb"]


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\3\4" + bytes(100)])
def test_a_file_that_is_no_download_is_reported(school, tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(CourseError, match="neither a folder nor a zip"):
        brought(school, tmp_path / "x.zip")


def test_the_command_reports_each_entry_and_writes_a_mapping_of_unmatched_ones(school, tmp_path):
    download = moodle(tmp_path / "m.zip", [*PEOPLE, ("Kim Lee", 21, b"3", NOON),
                                           ("=A Stranger", 30, b"?", NOON)])  # fmt: skip
    left = tmp_path / "left.csv"
    line = ["import", "value", str(download), "--course", str(school), "--unmatched", str(left)]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1, done.output
    assert "new: Jürgen Müller_4711_assignsubmission_file → s1" in done.output
    assert "could be each of s3, s4" in done.output
    assert "2 unmatched, 2 new" in done.output
    text = left.read_text("utf-8")
    assert "Kim Lee_21_assignsubmission_file,\n" in text
    assert "'=A Stranger" in text, "a spreadsheet would run it"
    again = CliRunner().invoke(main, [*line[:-2], "--mapping", str(left), "--json"])
    assert again.exit_code == 1, again.output
    assert again.stdout.count('"unmatched"') == 2
    filled = text.replace("_21_assignsubmission_file,", "_21_assignsubmission_file,s4")
    left.write_text(filled.replace("_30_assignsubmission_file,", "_30_assignsubmission_file,-"))
    again = CliRunner().invoke(main, [*line[:-2], "--mapping", str(left), "--json"])
    assert again.exit_code == 0, again.output
    states = [json.loads(line) for line in again.stdout.splitlines()]
    assert {each["student"]: each["state"] for each in states} == {
        "s1": "same", "s2": "same", "s4": "new", "": "left out"
    }  # fmt: skip
    left.write_text("file,student\nx,nobody\n")
    done = CliRunner().invoke(main, [*line[:-2], "--mapping", str(left)])
    assert done.exit_code == 2
    assert "the gradebook has no student nobody" in done.output


@pytest.mark.full
def test_letters_that_the_terminal_s_encoding_lacks_are_printed_as_escapes(school, tmp_path):
    download = moodle(tmp_path / "m.zip", [("王 小明", 1, b"6", NOON)])
    line = [sys.executable, "-m", "autograder", "import", "value", str(download), "--dry-run"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for more in ([], ["--json"]):
        done = run_program([*line, *more], cwd=school, env=environment)
        assert "new" in done.stdout
        assert "u738b" in done.stdout

    assert json.loads(done.stdout)["student"] == "s6"
