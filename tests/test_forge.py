"""The files for a forge are valid, and their commands are the Makefile's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FORGE = ROOT / ".github"
SCHEMAS = {
    "vendor.github-workflows": sorted(FORGE.glob("workflows/*.yml")),
    "vendor.github-issue-forms": sorted(FORGE.glob("ISSUE_TEMPLATE/[!c]*.yml")),
    "vendor.github-issue-config": [FORGE / "ISSUE_TEMPLATE" / "config.yml"],
}


@pytest.mark.subprocess
@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_file_fits_its_schema(schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    done = subprocess.run([*command, *SCHEMAS[schema]], capture_output=True, text=True)

    assert SCHEMAS[schema] and done.returncode == 0, done.stdout


def test_each_command_is_a_target_of_the_makefile():
    workflows = [yaml.safe_load(path.read_text()) for path in SCHEMAS["vendor.github-workflows"]]
    steps = [step for each in workflows for job in each["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    commands.append(container["postCreateCommand"])
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    commands += [hook["entry"] for hook in hooks]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))

    ours = [command for command in commands if not command.startswith("apt-get")]

    assert len(ours) >= 6
    for command in ours:
        make, *wanted = command.split()
        assert make == "make" and {each for each in wanted if "=" not in each} <= targets
