"""Makes the figures of PyTorch that the notebook `mlp` shows without PyTorch.

Takes the notebook's own cell, runs its PyTorch half, and prints the losses at the epochs that the
cell keeps, to be put into its `RECORDED`. Ends with status 1 if the cell holds others.

    pip install torch==2.13.0
    python benchmarks/pytorch_xor.py
"""

from __future__ import annotations

import io
import math
import sys
from contextlib import redirect_stdout

import nbformat
import torch

from autograder.course_folder.course import find_course

COURSE = find_course()
sys.path.append(str(COURSE.grading_tests))


def main() -> None:
    notebook = nbformat.read(COURSE.source_of("mlp"), as_version=4)
    [cell] = [cell for cell in notebook.cells if cell.id == "pytorch-live"]
    from namespaces import namespace

    scope = namespace(COURSE.assignment("mlp"))
    with redirect_stdout(io.StringIO()):
        exec(cell.source, scope)
    losses = {epoch: round(scope["theirs"][epoch - 1], 9) for epoch in scope["RECORDED"]}
    print(f"PyTorch {torch.__version__}: {losses}")
    recorded = scope["RECORDED"]
    if not all(math.isclose(losses[e], recorded[e], abs_tol=2e-9) for e in losses):
        sys.exit(f"the notebook holds {recorded}")


if __name__ == "__main__":
    main()
