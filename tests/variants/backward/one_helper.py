# A right solution of `backward`: a helper makes every function of one operand from its number and
# its slope.

# %% tanh
def unary(name, function, slope):
    """Attach a function of one operand; slope(x, y) is its derivative at input x, output y."""

    def operation(self):
        y = function(self.data)
        out = Value(y, (self,), name)

        def _backward():
            self.grad += slope(self.data, y) * out.grad

        out._backward = _backward
        return out

    setattr(Value, name, operation)
    return operation


tanh = unary("tanh", math.tanh, lambda x, y: 1 - y * y)


# %% relu
relu = unary("relu", lambda x: max(x, 0.0), lambda x, y: float(x > 0))


# %% exp
exp = unary("exp", math.exp, lambda x, y: y)


# %% log
log = unary("log", math.log, lambda x, y: 1 / x)


# %% sigmoid
def squeeze(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


sigmoid = unary("sigmoid", squeeze, lambda x, y: y * (1 - y))


# %% extra_ops
sin = unary("sin", math.sin, lambda x, y: math.cos(x))
cos = unary("cos", math.cos, lambda x, y: -math.sin(x))
sqrt = unary("sqrt", math.sqrt, lambda x, y: 1 / (2 * y))
