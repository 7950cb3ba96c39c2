# A right solution of `backward`: one class written anew in a later cell, with slots and a backward
# pass of its own.

# %% extra_ops
class Value(Value):
    __slots__ = ("visited",)

    def _unary(self, number, slope, name):
        out = Value(number, (self,), name)

        def step():
            self.grad += slope * out.grad

        out._backward = step
        return out

    def exp(self):
        e = math.exp(self.data)
        return self._unary(e, e, "exp")

    def log(self):
        if not self.data > 0:
            raise ValueError("log of a number that is not positive")
        return self._unary(math.log(self.data), self.data**-1, "log")

    def tanh(self):
        t = math.tanh(self.data)
        return self._unary(t, 1 - t * t, "tanh")

    def relu(self):
        return self._unary(max(self.data, 0.0), 1.0 if self.data > 0 else 0.0, "relu")

    def sigmoid(self):
        e = math.exp(-abs(self.data))
        s = 1 / (1 + e) if self.data > 0 else e / (1 + e)
        return self._unary(s, e / (1 + e) ** 2, "sigmoid")

    def sin(self):
        return self._unary(math.sin(self.data), math.cos(self.data), "sin")

    def cos(self):
        return self._unary(math.cos(self.data), -math.sin(self.data), "cos")

    def sqrt(self):
        root = math.sqrt(self.data)
        return self._unary(root, 0.5 / root if root else math.inf, "sqrt")
