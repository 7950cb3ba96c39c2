"""Hidden tests ask for more than values: printed text, files, coroutines, contexts, error texts."""

from __future__ import annotations

import pytest
from suites import here

from autograder.errors import AuthorError, StudentError
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import RemoteTarget
from autograder.testing import is_object, plain

pytestmark = pytest.mark.subprocess

CELL = '''
import asyncio
import functools

def greet(name, *, times=1):
    """Greet somebody."""
    for _ in range(times):
        print("Hello", name)

class Refused(ValueError):
    def __init__(self, why):
        super().__init__(f"no {why}")
        self.why = why

def refuse(why):
    raise Refused(why)

async def double(number):
    await asyncio.sleep(0)
    return 2 * number

async def both(*numbers):
    return await asyncio.gather(*map(double, numbers))

def save(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)

def save_much(name):
    save(name, "x" * 1_200_000 + "y")

class Door:
    """A way in."""
    log = []

    def __init__(self, holds=False):
        self.holds = holds

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append("out" if kind is None else kind.__name__)
        return self.holds

def stuck():
    return functools.partial(greet, "Ada")
'''


@pytest.fixture(params=["here", "in the sandbox"])
def student(request, server, tmp_path, monkeypatch):
    if request.param == "here":
        monkeypatch.chdir(tmp_path)
        yield here(CELL)
    else:
        with server.spawn(1) as process:
            assert process.request({"cell": CELL}, 10)["error"] is None
            yield Student(RemoteTarget(process))


def test_student_printed_returns_the_text_that_a_call_prints(student):
    assert student.printed(student.greet, "Ada", times=2) == "Hello Ada\nHello Ada\n"
    assert student.error_of(lambda: student.printed(student.refuse, "x")) == "ValueError"


def test_student_error_returns_the_error_that_a_call_raises(student):
    error = student.error(student.refuse, "bread")
    assert isinstance(error, student.Refused)
    assert error.why == "bread"
    assert str(error) == "no bread"
    assert student.error(student.greet, "Ada") == None  # noqa: E711 (a proxy)
    with pytest.raises(StudentError) as error:
        plain(student.refuse("secret"))
    assert "secret" not in repr(error.value)
    assert "secret" not in repr(student.seen)


def test_student_raises_accepts_an_error_class_of_the_student_s(student):
    for own in (student.Refused, ValueError):
        with student.raises(own):
            student.refuse("bread")
    with pytest.raises(AssertionError, match="raised TypeError"), student.raises(student.Refused):
        student.greet()


def test_a_coroutine_is_run_to_its_end(student):
    assert student.run(student.double, 4) == 8
    assert student.run(student.both, 1, 2) == [2, 4]
    assert student.error_of(lambda: student.run(student.greet, "Ada")) == "TypeError"


def test_student_files_returns_the_files_that_student_code_wrote(student):
    student.save("out.txt", "é\n")
    assert student.files["out.txt"] == "é\n"
    assert student.files.bytes("out.txt") == b"\xc3\xa9\n"
    student.save_much("long.txt")
    assert is_object(student.files["long.txt"])
    assert student.files["long.txt"][-1] == "y"
    assert student.error_of(lambda: student.files["none.txt"]) == "FileNotFoundError"
    assert "out.txt" in student.files
    assert "none.txt" not in student.files


def test_a_context_manager_of_the_student_s_is_entered_and_left(student):
    with student.Door() as door:
        assert door.holds == False and student.Door.log == ["in"]  # noqa: E712 (a proxy)
    assert student.Door.log == ["in", "out"]


def test_a_context_manager_of_the_student_s_hides_no_error_from_a_test(student):
    door = student.Door(holds=True)
    with pytest.raises(StudentError), door:
        student.refuse("x")
    with pytest.raises(AssertionError), door:
        raise AssertionError
    assert student.Door.log[-1] == "in"
    assert student.Door.log[1] == "ValueError"


def test_modules_of_the_standard_library_can_be_used_as_student_remote(student):
    assert student.remote.math.gcd(12, 18) == 6
    assert student.remote.os.path.join("a", "b") == "a/b"
    with pytest.raises(AuthorError, match=r"remote/numpyy\.py.*a module of Python"):
        student.remote.numpyy  # noqa: B018


def test_proxies_give_the_attributes_of_a_student_s_function_or_class(student):
    assert student.greet.__name__ == "greet"
    assert student.greet.__doc__ == "Greet somebody."
    assert student.Door.__doc__ == "A way in."
    assert student.Door().__module__ == "__main__"
    assert student.Door.__bases__[0].__name__ == "object"
    assert "log" in student.Door.__dict__
    assert student.greet.__annotations__ == {}
    assert student.greet.__kwdefaults__ == {"times": 1}
    assert student.stuck().__doc__ != "A way in."
    with pytest.raises(AttributeError):
        student.greet.__array_interface__  # noqa: B018
