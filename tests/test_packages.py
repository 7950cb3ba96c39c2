"""The versions in constraints.txt can be had where the project says that it runs."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="newer ones need fewer packages")
@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_every_pinned_version_runs_on_the_oldest_python(pin: Requirement) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    about = metadata(pin.name)
    assert pin.specifier.contains(about["Version"]), "another version is installed"
    assert SpecifierSet(about.get("Requires-Python") or "").contains(oldest)
