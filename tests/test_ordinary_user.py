"""Grading works for an ordinary user, and is refused in words if code cannot be confined."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.same_account import FULL
from campaigns import size
from programs import run_program
from schools import append, solutions

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook, hand_in
from autograder.course_folder.assignments import find_course, load_assignment
from autograder.model import LANDLOCK
from autograder.wall import kinds

pytestmark = pytest.mark.slow

NOBODY = 65534
READABLE = """
import os, sys
import IPython, nbgrader, autograder
open(os.path.realpath(sys.executable), "rb")
"""


@pytest.fixture(scope="module")
def ordinary_user() -> tuple[list[str], str]:
    """Return a command prefix that leaves root, and an interpreter that an ordinary user can
    read."""
    if os.getuid() != 0:
        return [], sys.executable
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("no setpriv, so root cannot become an ordinary user")
    prefix = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
              "--no-new-privs"]  # fmt: skip
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        check = [*prefix, python, "-c", READABLE]
        done = subprocess.run(check, env=_environment(), capture_output=True, cwd="/")
        if done.returncode == 0:
            return prefix, python
    pytest.skip("no interpreter of this version that an ordinary user can read")


def _environment(home: Path | None = None) -> dict[str, str]:
    paths = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    paths.insert(0, str(Path(__file__).resolve().parent.parent))
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(paths),
            "HOME": str(home or "/nonexistent"), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip


@pytest.fixture
def course() -> Iterator[Path]:
    """Return a course that the ordinary user owns, with one submission."""
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="ordinary-user-") as folder:
        course = Path(folder) / "course"
        copy_course(find_course(), course)
        hand_in(course, load_assignment(course, "value"), {"someone": solutions("value")})
        if os.getuid() == 0:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        yield course


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_student_processes_are_confined_for_an_ordinary_user_too(ordinary_user, kind):
    if why := kinds.KINDS[kind].why_not():
        pytest.skip(f"{kind}: {why}")
    script = """
        import json, sys
        from autograder.errors import StudentLost
        from autograder.model import Limits
        from autograder.wall import WarmServer
        said = []
        with WarmServer(Limits(processes=16, disk_megabytes=16), kind=sys.argv[1]) as server:
            bomb = "import os\\nwhile True: os.fork()"
            for cell in ("print(1 + 1)", bomb, sys.argv[2], "print('after')"):
                try:
                    with server.spawn(1) as student:
                        outputs = student.request({"cell": cell}, 10)["outputs"]
                        said.append([o.get("text", o.get("ename")) for o in outputs])
                except StudentLost as lost:
                    said.append(lost.reason)
        print(json.dumps(said))
    """
    prefix, python = ordinary_user
    command = [*prefix, python, "-c", textwrap.dedent(script), kind]
    command.append(FULL["files that nobody sees"])
    done = run_program(command, env=_environment(), cwd="/")
    first, bomb, hidden, after = json.loads(done.stdout)
    assert (first, after) == (["2\n"], ["after\n"])
    assert bomb in ("crashed", ["BlockingIOError"], "timeout", ["PermissionError"])
    assert hidden == ("crashed" if kind == LANDLOCK else ["OSError"])


def test_an_ordinary_user_examines_the_machine_and_grades(ordinary_user, course):
    prefix, python = ordinary_user
    # nbgrader calls `alembic` by name.
    alembic = course / "alembic"
    alembic.write_text(f'#!/bin/sh\nexec {python} -m alembic "$@"\n')
    alembic.chmod(0o755)
    environment = _environment(course) | {"PATH": f"{course}:/usr/bin:/bin"}

    def run(*arguments: str) -> str:
        return run_program([*prefix, python, "-m", *arguments], env=environment, cwd=course).stdout

    findings = {each["what"]: each for each in json.loads(run("autograder", "doctor", "--json"))}
    assert all(findings[what]["fine"] for what in ("sandbox", "bubblewrap", "landlock"))
    run("nbgrader", "generate_assignment", "value", "--force")
    lines = run("autograder", "grade", "value", "--workers", "1", "--json").splitlines()
    [seen] = [json.loads(line) for line in lines if line.startswith("{")]
    assert (seen["student"], seen["score"]) == ("someone", seen["max_score"])


# Parts of /proc that a container's runtime covers: some files and folders, and others for writing.
CONTAINER = """
mount -t proc proc /proc
for file in kcore keys timer_list; do
    [ ! -e /proc/$file ] || mount --bind /dev/null /proc/$file
done
for folder in acpi scsi; do [ ! -d /proc/$folder ] || mount -t tmpfs -o ro none /proc/$folder; done
for folder in bus fs irq sys; do
    [ ! -d /proc/$folder ] || mount --bind /proc/$folder /proc/$folder
    [ ! -d /proc/$folder ] || mount -o remount,bind,ro /proc/$folder
done
exec "$@"
"""


@pytest.mark.sized
def test_student_processes_are_confined_in_an_unprivileged_container(tmp_path):
    """Use a container in which user namespaces are allowed, and /proc is not whole as in most of
    them.

    The tests of the sandbox hold in it, without any skipped. Most attacks, which the same program
    stops there, have their turn in a campaign.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so no container can be made")
    container = [unshare, "--user", "--map-root-user", "--mount", "--pid", "--fork", "--net",
                 "--ipc", "--uts", "sh", "-ec", CONTAINER, "sh"]  # fmt: skip
    if subprocess.run([*container, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let /proc be covered")
    tests = Path(__file__).with_name("test_sandbox.py")
    most = "landlock" if size(0, 1) else "landlock or attack and not (reaches or kill or sleeping)"
    line = [*container, sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = run_program([*line, "-k", f"not ({most})", tests], cwd=tests.parent.parent)
    assert "skipped" not in done.stdout, done.stdout


@pytest.mark.parametrize("kind", ["bubblewrap", "auto"])
def test_without_namespaces_bubblewrap_is_refused_and_landlock_confines(tmp_path, kind):
    """Use a user namespace that allows no further one, as in many containers."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so the lack of namespaces cannot be had")
    if why := kinds.KINDS[LANDLOCK].why_not():
        pytest.skip(f"landlock: {why}")
    course, marker = tmp_path / "course", tmp_path / "ran"
    copy_course(find_course(), course)
    append(course / "course.toml", f'\n[sandbox]\nkind = "{kind}"\n')
    notebook = tmp_path / "value.ipynb"
    notebook.write_text(
        filled_notebook(course, "value", {"node": f"open({str(marker)!r}, 'w').write('x')"})
    )
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec "
    commands = {
        "check": f"{sys.executable} -m autograder check {notebook} --course {course}",
        "doctor": f"{sys.executable} -m autograder doctor --course {course}",
    }
    said, status = {}, {}
    for name, command in commands.items():
        line = [unshare, "--user", "--map-root-user", "sh", "-c", forbid + command]
        environment = _environment(tmp_path) | {"COLUMNS": "500"}
        done = run_program(line, status=None, env=environment, cwd=tmp_path)
        said[name] = " ".join((done.stdout + done.stderr).split())
        status[name] = done.returncode
        if "max_user_namespaces: Permission" in said[name] or "unshare failed" in said[name]:
            pytest.skip("this machine does not let a namespace be limited")
    assert "Traceback" not in said["check"] + said["doctor"]
    assert "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d" in said["doctor"]
    assert not marker.exists()
    if kind == "bubblewrap":
        assert 0 not in status.values()
        assert "no student code was run" in said["check"] and "autograder doctor" in said["check"]
        assert "course.toml asks for bubblewrap" in said["doctor"]
    else:
        assert set(status.values()) == {0}, said
        assert "runs in the sandbox of the kind landlock" in said["check"]
        assert "sandbox landlock" in said["check"]
        assert "in the kind landlock, since bubblewrap does not work" in said["doctor"]


def test_a_class_is_graded_in_an_ordinary_container_by_the_usual_commands(tmp_path):
    """Run the README's commands, from release to export, with the rights that a container leaves;
    the kind of sandbox is on the terminal, in the record and in the report."""
    if why := kinds.KINDS[LANDLOCK].why_not():
        pytest.skip(f"landlock: {why}")
    container = Path(__file__).with_name("as_in_a_container.py")

    course = tmp_path / "course"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_program(
            [sys.executable, container, sys.executable, "-m", *arguments], cwd=course
        )

    copy_course(find_course(), course)
    right = solutions("value")
    students = {"right": right, "wrong": {**right, "add": "pass"}}
    hand_in(course, load_assignment(course, "value"), students)
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    [block] = re.findall(r"then, in the clone:\n\n((?:    .*\n)+)", text)
    first, *lines = (line.partition("#")[0].split() for line in block.splitlines())
    assert first == [".", ".venv/bin/activate"]
    for line in lines:
        if line[:2] == ["autograder", "grade"]:
            line += ["--workers", "2", "--json"]
        each = run(*line)
        if line[1] == "grade":
            done = each
    assert {line[1] for line in lines} >= {"grade", "generate_feedback", "report", "export"}
    seen = {each["student"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert seen["right"]["score"] == seen["right"]["max_score"] > seen["wrong"]["score"] > 0
    assert {each["sandbox"] for each in seen.values()} == {"landlock"}
    assert "runs in the sandbox of the kind landlock" in done.stderr
    again = run("autograder", "grade", "value", "--workers", "1", "--json")
    assert [json.loads(line)["skipped"] for line in again.stdout.splitlines()] == [True, True]
    assert (course / "feedback" / "wrong" / "value" / "value.html").exists()
    assert len((course / "marks.csv").read_text().splitlines()) >= 3
    page = (course / "class_report" / "value" / "report.html").read_text()
    assert "Sandbox: landlock for 2 submissions." in " ".join(page.split())
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as gradebook:
        rows = gradebook.execute("select versions from autograder_grading").fetchall()
    assert [json.loads(versions)["sandbox"] for (versions,) in rows] == ["landlock"] * 2
