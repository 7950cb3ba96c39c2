"""The button *Validate* says how to update an old notebook."""

from __future__ import annotations

import asyncio

import nbformat
import pytest
from schools import run

from course.validating import answer


@pytest.mark.full
@pytest.mark.subprocess
def test_the_validate_button_says_how_to_update_a_notebook_with_old_metadata(course, tmp_path):
    path = tmp_path / "my sums.ipynb"
    cell = nbformat.v4.new_code_cell("assert 1 + 1 == 2")
    cell.metadata["nbgrader"] = {"schema_version": 1, "grade_id": "test_sum", "points": 1,
                                 "grade": True, "solution": False, "locked": True}  # fmt: skip
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    seen = asyncio.run(answer(path))

    assert not seen["success"]
    assert "older nbgrader" in seen["value"]
    assert f"nbgrader update '{path.name}'" in seen["value"]

    run(course, "nbgrader", "update", str(path))
    assert asyncio.run(answer(path)) == {"success": True, "value": {}}
