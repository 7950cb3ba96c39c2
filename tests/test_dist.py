"""The wheels hold exactly the packages, and grade in an environment of their own.

`make dist` leaves them in `artefacts/dist`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from programs import run_program
from schools import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.settings import load_settings
from autograder.delivery.contents import wheel_metadata
from autograder.faults import in_words

pytestmark = pytest.mark.slow

FOLDERS = {"coursecheck": "coursecheck", "autograder": "autograder", "course": "."}
"""By package, the folder whose pyproject.toml makes its wheel."""
UNUSED = ("jupyterlab", "notebook")
SECRETS = (".autograder_key", "gradebook.db", "solved.ipynb")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """Wheels of a clone in which people have worked, by package."""
    clone = tmp_path_factory.mktemp("dist") / "clone"
    target = Path(os.environ.get("DIST") or clone.parent / "dist").absolute()
    for each in ("coursecheck", "autograder", "course", "grading_tests", "source"):
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        shutil.copytree(COURSE / each, clone / each, ignore=ignored)
    for each in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(COURSE / each, clone)
    for folder in (clone, clone / "course", clone / "autograder", clone / "autograder/pages"):
        for secret in SECRETS:
            (folder / secret).write_text("secret")
    made = {}
    for package, folder in FOLDERS.items():
        shutil.rmtree(target / package, ignore_errors=True)
        line = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
        subprocess.run([*line, "--outdir", target / package, clone / folder], check=True)
        [made[package]] = (target / package).glob("*.whl")
    return made


@pytest.mark.parametrize("package", FOLDERS)
def test_a_wheel_holds_its_package_and_no_secret(wheels, package):
    with zipfile.ZipFile(wheels[package]) as packed:
        found = {name for name in packed.namelist() if ".dist-info/" not in name}
    ours = {
        f"{package}/{path.relative_to(COURSE / package).as_posix()}"
        for path in (COURSE / package).rglob("*")
        if path.is_file() and not {"__pycache__", "build"} & {*path.parts}
    }
    apart = {name for name in found if ".data/data/etc/jupyter" in name}
    assert found - apart <= ours
    left = {name for name in ours - found if "egg-info" not in name}
    assert not [name for name in left if name.endswith(".py")]
    # Lesson, notebooks for reading and the like are no part of the package that students import.
    assert package == "course" or left == {f"{package}/pyproject.toml"}


@pytest.mark.parametrize("package", FOLDERS)
def test_a_wheel_s_metadata_are_right(wheels, package):
    about = wheel_metadata(wheels[package])
    project = tomllib.loads((COURSE / FOLDERS[package] / "pyproject.toml").read_text())["project"]
    named = (project["name"], project["version"], project["description"], ">=3.11", "MIT")
    keys = ("Name", "Version", "Summary", "Requires-Python", "License-Expression")
    assert named == tuple(about[key] for key in keys)


@pytest.mark.parametrize(
    ("module", "extra"),
    [("prometheus_client.core", "serve"), ("jupyterlite_core", "browser"), ("tornado", "serve")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(module, extra):
    named = in_words(ModuleNotFoundError(name=module))
    assert named.startswith(f"this needs {module}: run `pip install")
    assert f"'./autograder[{extra}]'" in named
    assert "the autograder itself failed" in in_words(ModuleNotFoundError(name="unheard_of"))


def test_the_unit_and_the_containers_start_the_service():
    unit = ConfigParser(interpolation=None)
    unit.read(COURSE / "docs/autograder.service")
    image = (COURSE / "docs/grader.Containerfile").read_text()
    assert f"pip uninstall --quiet --yes {' '.join(UNUSED)}\n" in image
    for name in re.findall(r"^COPY (.+) /\S+$", image, re.MULTILINE):
        assert all((COURSE / each).exists() for each in name.split())
    compose = yaml.safe_load((COURSE / "docs/compose.yaml").read_text())
    [service] = compose["services"].values()
    assert (COURSE / "docs" / service["build"]["context"]).resolve() == COURSE
    assert service["build"]["dockerfile"] == "docs/grader.Containerfile"
    [command] = re.findall(r"^CMD (.+)$", image, re.MULTILINE)
    for line in (unit["Service"]["ExecStart"].split(), json.loads(command)):
        assert Path(line[0]).name == "autograder"
        serve = main.commands[line[1]]
        chosen = serve.make_context(line[1], line[2:]).params
        assert f":{chosen['port']}:" in service["ports"][0]


@pytest.mark.campaign
def test_the_wheels_grade_in_an_empty_environment(wheels, tmp_path):
    # The sandbox shows nothing that lies below /tmp.
    environment, course = COURSE / "artefacts/environment", tmp_path / "course"
    venv.create(environment, clear=True, with_pip=True)
    pip = [environment / "bin/python", "-m", "pip", "install", "--quiet"]
    files = [*wheels.values(), *load_settings(COURSE).visible.packages]
    subprocess.run([*pip, "-c", COURSE / "constraints.txt", *files], check=True, timeout=1800)
    # As docs/grader.Containerfile does.
    subprocess.run([*pip[:3], "uninstall", "--quiet", "--yes", *UNUSED], check=True)
    copy_course(COURSE, course)
    done = run_program(
        [environment / "bin/autograder", "demo", "value", "--folder", tmp_path / "class"],
        cwd=course, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "COLUMNS": "200"},
        timeout=1800,
    )  # fmt: skip
    lines = {line.split()[1]: line.split() for line in done.stdout.splitlines() if "│" in line}
    assert lines["all_right"][3:6] == ["40", "/", "40"]
    assert lines["not_started"][3] == lines["empty_file"][3] == "0"
    assert (tmp_path / "class/feedback/all_right/value/value.html").exists()
    size = sum(path.lstat().st_size for path in environment.rglob("*"))
    print(f"{len([*environment.rglob('*.dist-info')])} packages, {size / 1e6:.0f} MB")
