# A right solution of `backward`: a decorator makes each function and its slope into a method.

# %% tanh
def method(name, slope):
    """Attach a function of one number, with its slope as a function of input and output."""

    def attach(function):
        def applied(self):
            out = Value(function(self.data), (self,), name)

            def step():
                self.grad += slope(self.data, out.data) * out.grad

            out._backward = step
            return out

        setattr(Value, name, applied)
        return applied

    return attach


@method("tanh", slope=lambda x, y: (1 - y) * (1 + y))
def tanh(x):
    return math.tanh(x)


# %% relu
@method("relu", slope=lambda x, y: float(x > 0))
def relu(x):
    return x if x > 0 else 0.0


# %% extra_ops
@method("sin", slope=lambda x, y: math.cos(x))
def sin(x):
    return math.sin(x)


@method("cos", slope=lambda x, y: -math.sin(x))
def cos(x):
    return math.cos(x)


@method("sqrt", slope=lambda x, y: 1 / (2 * y))
def sqrt(x):
    if x < 0:
        raise ValueError("no real root")
    return x**0.5
