"""The wheels of the grader and of the checks hold exactly the packages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from wheels import UNPACKED, assert_metadata, build_wheel, files_in, files_of

from autograder.isolation import in_words

GRADER = Path(__file__).resolve().parents[1]
PROJECTS = {"coursecheck": GRADER / "coursecheck", "autograder": GRADER}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the wheels of a folder in which people have worked, by package."""
    target = tmp_path_factory.mktemp("dist")
    grader = shutil.copytree(GRADER, target / "copy" / "autograder", ignore=UNPACKED)
    return {
        "coursecheck": build_wheel(grader / "coursecheck", target),
        "autograder": build_wheel(grader, target, "src/autograder/pages"),
    }


@pytest.mark.external
@pytest.mark.parametrize("package", PROJECTS)
def test_a_wheel_holds_its_package_and_no_secret(wheels, package):
    assert files_in(wheels[package]) == files_of(PROJECTS[package] / "src" / package)


@pytest.mark.external
@pytest.mark.parametrize("package", PROJECTS)
def test_a_wheel_has_the_metadata_of_its_project(wheels, package):
    assert_metadata(wheels[package], PROJECTS[package])


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("prometheus_client.core", "serve"),
        ("jupyterlite_core", "browser"),
        ("distributed", "cluster"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(module, extra):
    named = in_words(ModuleNotFoundError(name=module))
    assert named.startswith(f"this needs {module}: run `pip install")
    assert f"'./autograder[{extra}]'" in named
    assert "the autograder itself failed" in in_words(ModuleNotFoundError(name="unheard_of"))
