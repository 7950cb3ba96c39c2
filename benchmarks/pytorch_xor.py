"""Makes the figures of PyTorch that the notebook `mlp` shows without PyTorch.

Takes the notebook's own cell, runs its PyTorch half, and prints the losses at the epochs that the
cell keeps, to be put into its `RECORDED`. Needs PyTorch; `--check` compares with what the cell
holds instead of printing it.

    pip install torch==2.13.0
    python benchmarks/pytorch_xor.py [--check]
"""

from __future__ import annotations

import argparse
import io
import math
import sys
from contextlib import redirect_stdout

import nbformat
import torch

from autograder.course_folder.assignments import find_course, load_assignment

sys.path.append(str(find_course() / "grading_tests"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    course = find_course()
    notebook = nbformat.read(course / "source" / "mlp" / "mlp.ipynb", as_version=4)
    [cell] = [cell for cell in notebook.cells if cell.id == "pytorch-live"]
    from namespaces import namespace

    scope = namespace(load_assignment(course, "mlp"))
    with redirect_stdout(io.StringIO()):
        exec(cell.source, scope)
    losses = {epoch: round(scope["theirs"][epoch - 1], 9) for epoch in scope["RECORDED"]}
    print(f"PyTorch {torch.__version__}: {losses}")
    recorded = scope["RECORDED"]
    if check and not all(math.isclose(losses[e], recorded[e], abs_tol=2e-9) for e in losses):
        sys.exit(f"the notebook holds {recorded}")


if __name__ == "__main__":
    main()
