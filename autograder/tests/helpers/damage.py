"""Damages notebooks as editors, mail programs and people do, but leaves the answers as they are.

Each function takes a notebook's JSON and a random generator, and returns a damaged notebook or, if
the file itself is damaged, bytes.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

Notebook = dict[str, Any]
Damage = Callable[[Notebook, random.Random], Notebook | bytes]


def _name(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _named(notebook: Notebook) -> list[int]:
    return [i for i, cell in enumerate(notebook["cells"]) if _name(cell)]


def _answers(notebook: Notebook) -> list[int]:
    return [
        i
        for i, cell in enumerate(notebook["cells"])
        if cell["metadata"].get("nbgrader", {}).get("solution") and cell["cell_type"] == "code"
    ]


def _tests(notebook: Notebook) -> list[int]:
    return [i for i in _named(notebook) if _name(notebook["cells"][i]).startswith("test_")]


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def ids_regenerated(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell["id"] = f"{rng.getrandbits(64):016x}"
    return notebook


def ids_dropped(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell.pop("id", None)
    return {**notebook, "nbformat_minor": rng.randint(0, 4)}


def metadata_dropped(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook


def metadata_and_ids_dropped(notebook: Notebook, rng: random.Random) -> Notebook:
    """Keep only types and sources of cells, as a conversion by another tool does."""
    return metadata_dropped(ids_regenerated(notebook, rng), rng)


def metadata_of_some_cells_dropped(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in ids_regenerated(notebook, rng)["cells"]:
        if rng.random() < 0.5:
            cell["metadata"] = {}
    return notebook


def as_colab_saves_it(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell.pop("id", None)
        tags = cell["metadata"].pop("tags", None)
        cell["metadata"] |= {"id": f"{rng.getrandbits(48):012x}", "colab": {"base_uri": "x"}}
        if tags is not None and rng.random() < 0.5:
            cell["metadata"]["tags"] = tags
    metadata = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    return {**notebook, "nbformat_minor": 0, "metadata": metadata}


def as_vs_code_saves_it(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["source"] = cell["source"].splitlines(keepends=True)
    return {**notebook, "metadata": {"language_info": {"name": "python"}, "orig_nbformat": 4}}


def a_test_cell_deleted(notebook: Notebook, rng: random.Random) -> Notebook:
    del notebook["cells"][rng.choice(_tests(notebook))]
    return notebook


def every_test_cell_deleted(notebook: Notebook, rng: random.Random) -> Notebook:
    tests = set(_tests(notebook))
    cells = [cell for i, cell in enumerate(notebook["cells"]) if i not in tests]
    return {**notebook, "cells": cells}


def lesson_cells_deleted(notebook: Notebook, rng: random.Random) -> Notebook:
    cells = [cell for cell in notebook["cells"] if _name(cell) or rng.random() < 0.3]
    return {**notebook, "cells": cells}


def a_test_cell_edited(notebook: Notebook, rng: random.Random) -> Notebook:
    cell = notebook["cells"][rng.choice(_tests(notebook))]
    cell["source"] = rng.choice(["", "# my notes", "print('hello')", cell["source"] + "\n# x"])
    return notebook


def cells_duplicated(notebook: Notebook, rng: random.Random) -> Notebook:
    for index in sorted(rng.sample(_named(notebook), 3), reverse=True):
        copy = _copy(notebook["cells"][index])
        if rng.random() < 0.5:
            copy["id"] = f"{rng.getrandbits(64):016x}"
        notebook["cells"].insert(index + 1, copy)
    return notebook


def a_stub_beside_the_answer(notebook: Notebook, rng: random.Random) -> Notebook:
    """Insert the stub above or below its answer, as a cell with the same metadata."""
    index = rng.choice(_answers(notebook))
    copy = _copy(notebook["cells"][index])
    copy["source"] = STUBS.get(_name(copy), copy["source"])
    copy["id"] = f"{rng.getrandbits(64):016x}"
    notebook["cells"].insert(index + rng.randint(0, 1), copy)
    return notebook


STUBS: dict[str, str] = {}
"""By name of an answer's cell: its stub. The caller sets this dictionary."""


def an_answer_split(notebook: Notebook, rng: random.Random) -> Notebook:
    long = [i for i in _answers(notebook) if notebook["cells"][i]["source"].count("\n") > 3]
    if not long:
        return notebook
    index = rng.choice(long)
    cell = notebook["cells"][index]
    lines = cell["source"].split("\n")
    place = rng.randint(1, len(lines) - 2)
    rest = _copy(cell)
    cell["source"], rest["source"] = "\n".join(lines[:place]), "\n".join(lines[place:])
    rest["id"] = f"{rng.getrandbits(64):016x}"
    if rng.random() < 0.5:
        rest["metadata"] = {}
    notebook["cells"].insert(index + 1, rest)
    return notebook


def two_cells_merged(notebook: Notebook, rng: random.Random) -> Notebook:
    """Merge a code cell with the one below it; the merged cell has the upper one's metadata."""
    cells = notebook["cells"]
    pairs = [
        i
        for i in range(len(cells) - 1)
        if cells[i]["cell_type"] == cells[i + 1]["cell_type"] == "code"
        and (_name(cells[i]) or _name(cells[i + 1]))
    ]
    index = rng.choice(pairs)
    cells[index]["source"] += "\n\n" + cells[index + 1]["source"]
    del cells[index + 1]
    return notebook


def two_answers_merged(notebook: Notebook, rng: random.Random) -> Notebook:
    answers = _answers(notebook)
    first, second = rng.choice(list(itertools.pairwise(answers)))
    notebook["cells"][first]["source"] += "\n\n" + notebook["cells"][second]["source"]
    del notebook["cells"][second]
    return notebook


def an_answer_merged_into_the_text_above(notebook: Notebook, rng: random.Random) -> Notebook:
    cells = notebook["cells"]
    pairs = [i for i in _answers(notebook) if i and cells[i - 1]["cell_type"] == "markdown"]
    if not pairs:
        return notebook
    index = rng.choice(pairs)
    cells[index - 1]["source"] += "\n\n" + cells[index]["source"]
    del cells[index]
    return notebook


def cells_moved(notebook: Notebook, rng: random.Random) -> Notebook:
    for _ in range(rng.randint(1, 4)):
        cell = notebook["cells"].pop(rng.choice(_named(notebook)))
        notebook["cells"].insert(rng.randint(0, len(notebook["cells"])), cell)
    return notebook


def all_cells_shuffled(notebook: Notebook, rng: random.Random) -> Notebook:
    rng.shuffle(notebook["cells"])
    return notebook


def cells_retyped(notebook: Notebook, rng: random.Random) -> Notebook:
    for index in rng.sample(_named(notebook), 4):
        cell = notebook["cells"][index]
        if cell["cell_type"] == "code":
            cell["cell_type"] = rng.choice(["markdown", "raw"])
            cell.pop("outputs"), cell.pop("execution_count")
        else:
            cell.update(cell_type="code", outputs=[], execution_count=None)
    return notebook


def scratch_cells_added(notebook: Notebook, rng: random.Random) -> Notebook:
    for _ in range(8):
        source = rng.choice(["", "1 + 1", "# to do", "print('hi')", "1 / 0", "x = (", "x = 5"])
        cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [],
                "execution_count": None, "id": f"{rng.getrandbits(64):016x}"}  # fmt: skip
        notebook["cells"].insert(rng.randint(0, len(notebook["cells"])), cell)
    return notebook


def odd_parts(notebook: Notebook, rng: random.Random) -> Notebook:
    """Replace parts by values of a wrong JSON type, as a faulty program does."""
    for index in rng.sample(range(len(notebook["cells"])), 5):
        cell = notebook["cells"][index]
        if not _name(cell):
            cell["metadata"] = rng.choice([None, [], 5, {"nbgrader": []}, {"tags": {"a": 1}}])
        cell["outputs"] = rng.choice([None, {}, 5, ["x"], [{"output_type": {}}]])
    notebook["cells"].insert(rng.randint(0, 9), rng.choice([None, 7, {}, [], {"source": {}}]))
    notebook["metadata"] = rng.choice([None, [], "x", {"kernelspec": []}, {"kernelspec": "py"}])
    return notebook


def windows_line_ends(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    return notebook


def white_space_changed(notebook: Notebook, rng: random.Random) -> Notebook:
    for cell in notebook["cells"]:
        lines = [line + " " * rng.randint(0, 2) for line in cell["source"].split("\n")]
        cell["source"] = "\n".join(lines) + "\n" * rng.randint(0, 2)
    return notebook


def with_byte_order_mark(notebook: Notebook, rng: random.Random) -> bytes:
    return b"\xef\xbb\xbf" + json.dumps(notebook, indent=1).encode()


def in_utf_16(notebook: Notebook, rng: random.Random) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode("utf-16")


def not_in_utf_8(notebook: Notebook, rng: random.Random) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode("cp1252", "replace")


def a_conflict_of_versions(notebook: Notebook, rng: random.Random) -> bytes:
    """Put Git's conflict markers around a cell of the lesson."""
    lessons = [i for i, cell in enumerate(notebook["cells"]) if not _name(cell)]
    texts = [json.dumps(cell, indent=1) for cell in notebook["cells"]]
    index = rng.choice(lessons)
    texts[index] = f"<<<<<<< HEAD\n{texts[index]}\n=======\n{texts[index]}\n>>>>>>> theirs"
    return ('{"cells": [\n' + ",\n".join(texts) + '],\n"metadata": {}}').encode()


def a_comma_too_many(notebook: Notebook, rng: random.Random) -> bytes:
    text = json.dumps(notebook, indent=1)
    return text.replace("\n ],\n", ",\n ],\n", 1).encode()


def cut_off(notebook: Notebook, rng: random.Random) -> bytes:
    """Truncate the file."""
    text = json.dumps(notebook, indent=1).encode()
    return text[: rng.randint(len(text) // 3, len(text) - 1)]


def several(notebook: Notebook, rng: random.Random) -> Notebook | bytes:
    """Apply two or three kinds of damage."""
    result: Notebook | bytes = notebook
    for damage in rng.sample(ORDINARY, rng.randint(2, 3)):
        result = damage(_copy(result), rng)
    return result


ORDINARY: list[Callable[[Notebook, random.Random], Notebook]] = [
    ids_regenerated, metadata_of_some_cells_dropped, as_colab_saves_it, a_test_cell_deleted,
    lesson_cells_deleted, a_test_cell_edited, cells_duplicated, cells_moved, scratch_cells_added,
    windows_line_ends, white_space_changed, a_stub_beside_the_answer,
]  # fmt: skip
DAMAGES: list[Damage] = [
    ids_dropped, metadata_dropped, metadata_and_ids_dropped, as_vs_code_saves_it,
    every_test_cell_deleted, an_answer_split, two_cells_merged, two_answers_merged,
    an_answer_merged_into_the_text_above, all_cells_shuffled, cells_retyped, odd_parts,
    with_byte_order_mark, in_utf_16, not_in_utf_8, a_conflict_of_versions, a_comma_too_many,
    cut_off, several, *ORDINARY,
]  # fmt: skip
