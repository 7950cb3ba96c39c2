# A right solution of `backward`: numpy computes the numbers, so that numpy scalars turn up in data,
# gradients and verdicts.

# %% exp
import numpy as np


def exp(self):
    out = Value(np.exp(self.data), (self,), "exp")

    def _backward():
        self.grad += np.exp(self.data) * out.grad

    out._backward = _backward
    return out


Value.exp = exp


# %% log
def log(self):
    if not self.data > 0:
        raise ValueError("no logarithm here")
    out = Value(np.log(self.data), (self,), "log")

    def _backward():
        self.grad += np.float64(out.grad) / self.data

    out._backward = _backward
    return out


Value.log = log


# %% tanh
def tanh(self):
    out = Value(np.tanh(self.data), (self,), "tanh")

    def _backward():
        self.grad += (1 - np.square(out.data)) * out.grad

    out._backward = _backward
    return out


Value.tanh = tanh


# %% relu
def relu(self):
    out = Value(np.maximum(self.data, 0), (self,), "relu")

    def _backward():
        self.grad += np.float64(self.data > 0) * out.grad

    out._backward = _backward
    return out


Value.relu = relu


# %% zero_grad
def zero_grad(parameters):
    for parameter in parameters:
        parameter.grad = np.float64(0)


# %% check_gradients
import numpy as np
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    X = np.array(inputs, float)
    E = np.eye(len(X)) * epsilon
    nudged = [(f(*map(Value, X + e)).data - f(*map(Value, X - e)).data) / (2 * epsilon) for e in E]
    return np.isclose([l.grad for l in leaves], nudged, rtol=1e-4, atol=1e-9).all()
