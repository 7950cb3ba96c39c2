"""The subject of an error is read from the words of any Python from 3.11 to 3.14."""

from __future__ import annotations

import pytest

from coursecheck.examples import failure


@pytest.mark.parametrize(
    ("error", "about"),
    [
        (TypeError("unhashable type: 'list'"), "list"),
        (TypeError("cannot use 'list' as a dict key (unhashable type: 'list')"), "list"),
        (TypeError("argument of type 'int' is not iterable"), "int iterable"),
        (TypeError("argument of type 'int' is not a container or iterable"), "int iterable"),
        (TypeError("f() got an unexpected keyword argument 'x'"), "f x"),
        (TypeError("f() got an unexpected keyword argument 'x'. Did you mean 'y'?"), "f x"),
        (AttributeError("'int' object has no attribute 'data'"), "int data"),
        (
            AttributeError(
                "'int' object has no attribute 'data' and no __dict__ for setting new attributes"
            ),
            "int data",
        ),
    ],
)
def test_error_messages_of_the_oldest_and_newest_python_have_the_same_subject(error, about):
    with pytest.raises(type(error)) as raised:
        (each for each in ()).throw(error)  # as from Python itself: no line says `raise`
    assert failure(raised.value)["about"] == about


def test_message_of_a_raise_statement_has_no_subject():
    with pytest.raises(TypeError) as raised:
        raise TypeError("'int' object is not callable")
    assert "about" not in failure(raised.value)
