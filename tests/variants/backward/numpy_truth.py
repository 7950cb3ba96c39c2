# A right solution of `backward`: numpy compares all gradients at once, so that a truth value of its
# own comes out.

# %% check_gradients
import numpy as np
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    X = np.array(inputs, float)
    E = np.eye(len(X)) * epsilon
    nudged = [(f(*map(Value, X + e)).data - f(*map(Value, X - e)).data) / (2 * epsilon) for e in E]
    return np.isclose([l.grad for l in leaves], nudged, rtol=1e-4, atol=1e-9).all()
