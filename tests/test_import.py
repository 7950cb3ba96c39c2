"""Downloads of learning management systems are imported: each student's own files, whole."""

from __future__ import annotations

import io
import json
import os
import random
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

from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.assignments import find_course
from autograder.delivery.lms.archives import DownloadedFile, inside
from autograder.delivery.lms.importing import import_download, read_record
from autograder.errors import CourseError, UnreadableNotebook
from autograder.notebook.intake import MAX_BYTES
from autograder.pipeline.classroom import course_directory

pytestmark = pytest.mark.slow

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
    copy_course(find_course(Path(__file__).parent), folder)
    with Gradebook(course_directory(folder).db_url) as gradebook:
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
    """Return each submission's state, by student, or by place if the student is unknown."""
    found = import_download(school, "value", download, dry_run=dry_run, **more)
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
def test_a_moodle_download_in_each_of_its_forms(school, tmp_path, flat, old):
    download = moodle(tmp_path / "m.zip", PEOPLE, flat, old)
    assert brought(school, download) == {"s1": "new", "s2": "new"}
    assert submitted(school) == {"s1": b"1", "s2": b"2"}
    expected = LATER.astimezone(UTC)
    assert time_of(school, "s2") == f"{expected:%Y-%m-%d %H:%M:%S.%f} UTC"
    record = read_record(school, "value")["s1"]
    assert record["form"] == "moodle" and record["numbers"] == ["4711"]
    assert record["prefix"].startswith("Jürgen Müller_4711_assignsubmission_file")


def test_names_are_matched_in_any_spelling(school, tmp_path):
    names = {
        "s1": [unicodedata.normalize("NFD", "Jürgen Müller"), "Müller Jürgen", "JUERGEN MUELLER",
               "Jurgen Muller", "Gruppe 3-Jürgen Müller", " jürgen  müller "],
        "s5": ["Soeren Aangstroem", "Soren Angstrom", "ångström, søren"],
        "s6": ["王 小明", "小明王"],
        "s7": ["Ada O’Brien Smith", "Ada OBrien-Smith"],
    }  # fmt: skip
    for student, forms in names.items():
        for name in forms:
            download = moodle(tmp_path / "m.zip", [(name, 1, b"x", NOON)])
            assert brought(school, download, dry_run=True) == {student: "new"}, name


def test_students_with_one_name_are_matched_by_a_list_only(school, tmp_path):
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


def test_a_canvas_download(school, tmp_path):
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
    found = import_download(school, "value", download)
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


def test_canvas_s_numbers_are_no_numbers_of_the_university(school, tmp_path):
    with Gradebook(course_directory(school).db_url) as gradebook:
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


def test_a_gradescope_export_with_a_group(school, tmp_path):
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


def test_gradescope_s_own_classes_are_read_as_plain_data(school, tmp_path):
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
def test_a_plain_zip_names_students_anywhere_in_its_paths(school, tmp_path, name):
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
def test_downloads_of_other_systems(school, tmp_path, form, names, newest):
    entries = [(name, name.encode(), NOON) for name in names]
    assert brought(school, zipped(tmp_path / "d.zip", entries))["s1"] == "new"
    assert submitted(school) == {"s1": names[newest].encode(), "s2": names[-1].encode()}
    assert read_record(school, "value")["s1"]["form"] == form


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
def test_a_student_s_own_names_are_never_counted_as_another_s_file(
    school, tmp_path, form, own, forged, says_form
):
    """A student may give a file or a folder any name."""
    download = zipped(tmp_path / "d.zip", [(own, b"own", NOON), (forged, b"forged", NOON)])
    brought(school, download, **({"form": form} if says_form else {}))
    assert submitted(school).get("s2") == b"own"
    assert submitted(school).get("s1") in (None, b"forged")


def test_a_list_in_a_student_s_folder_is_ignored(school, tmp_path):
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


def test_a_plain_folder(school, tmp_path):
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


def test_the_newest_copy_of_a_notebook_counts_and_all_are_kept(school, tmp_path):
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


def test_a_zip_that_a_student_handed_in_is_looked_into_once(school, tmp_path):
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


def test_submissions_from_elsewhere_are_not_overwritten(school, tmp_path):
    folder = school / "submitted" / "s1" / "value"
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_bytes(b"from elsewhere")
    [imported] = import_download(school, "value", moodle(tmp_path / "m.zip", PEOPLE[:1]))
    assert imported.state == "older" and "nothing says which is newer" in imported.told
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
def test_names_that_lead_elsewhere_are_left_out(school, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    download = zipped(tmp_path / "p.zip", [(name, b"!", NOON), ("s2/value.ipynb", b"2", NOON)])
    states = brought(school, download)
    assert states.pop("s2") == "new" and [*states.values()] == ["refused"]
    made = {path for path in sorted(tmp_path.rglob("*")) if path not in before}
    assert {path.relative_to(tmp_path).parts[0] for path in made} == {"course", "p.zip"}
    assert submitted(school) == {"s2": b"2"}


def test_links_bombs_and_locked_entries_affect_their_student_only(school, tmp_path):
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
    found = import_download(school, "value", download)
    states = {each.student: each for each in found}
    assert states["s6"].state == "new" and submitted(school) == {"s6": b"6"}
    assert states["s1"].state == "refused" and "my.zip" in states["s1"].told


def test_damaged_zips_raise_foreseen_errors_only():
    draw = random.Random(seed(39))
    whole = nested(4)
    for _ in range(size(2_000, 60_000)):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        found = inside(DownloadedFile("a.zip", None, lambda content=bytes(content): content))
        for file in found.files:
            with suppress(UnreadableNotebook):
                file.read()


def test_an_entry_that_lies_about_its_size_is_bounded_all_the_same(school, tmp_path):
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


def test_a_folder_unpacked_with_a_wrong_encoding(school, tmp_path):
    folder = os.fsencode(tmp_path / "in") + b"/J\xfcrgen M\xfcller_1_assignsubmission_file"
    os.makedirs(folder)
    with open(folder + b"/value.ipynb", "wb") as file:
        file.write(b"1")
    assert brought(school, tmp_path / "in") == {"s1": "new"}


def test_files_that_systems_leave_are_no_submissions(school, tmp_path):
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


def test_the_command_reports_all_and_writes_a_mapping_to_fill_in(school, tmp_path):
    download = moodle(tmp_path / "m.zip", [*PEOPLE, ("Kim Lee", 21, b"3", NOON),
                                           ("=A Stranger", 30, b"?", NOON)])  # fmt: skip
    left = tmp_path / "left.csv"
    line = ["import", "value", str(download), "--course", str(school), "--unmatched", str(left)]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1, done.output
    assert "new: Jürgen Müller_4711_assignsubmission_file → s1" in done.output
    assert "could be each of s3, s4" in done.output and "2 unmatched, 2 new" in done.output
    text = left.read_text("utf-8")
    assert "Kim Lee_21_assignsubmission_file,\n" in text
    assert "'=A Stranger" in text, "a spreadsheet would run it"
    again = CliRunner().invoke(main, [*line[:-2], "--mapping", str(left), "--json"])
    assert again.exit_code == 1 and again.stdout.count('"unmatched"') == 2, again.output
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
    assert done.exit_code == 2 and "the gradebook has no student nobody" in done.output


def test_a_terminal_without_some_letters_stops_nothing(school, tmp_path):
    download = moodle(tmp_path / "m.zip", [("王 小明", 1, b"6", NOON)])
    line = [sys.executable, "-m", "autograder", "import", "value", str(download), "--dry-run"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for more in ([], ["--json"]):
        done = run_program([*line, *more], cwd=school, env=environment)
        assert "new" in done.stdout and "u738b" in done.stdout
    assert json.loads(done.stdout)["student"] == "s6"
