# A right solution of `value`: a data class with slots, without generated equality.

# %% node
from dataclasses import InitVar, dataclass, field
from typing import Any


@dataclass(eq=False, repr=False, slots=True)
class Value:
    data: float
    _children: InitVar[Any] = ()
    _op: str = ""
    label: str = ""
    grad: float = field(default=0.0, init=False)
    _prev: tuple = field(init=False)
    _backward: Any = field(init=False)

    def __post_init__(self, _children):
        self.data = float(self.data)
        self._prev = tuple(_children)
        self._backward = lambda: None

    def __repr__(self):
        return f"Value(data={self.data!r}, grad={self.grad!r})"
