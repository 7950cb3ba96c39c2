# A right solution of `mlp`: a copy of the network after its best epoch.

# %% xor
import copy


def train_xor(inputs, targets, seed):
    random.seed(seed)
    model, least = MLP(2, [4, 1]), None
    optimizer = SGD(model.parameters(), lr=0.5)
    for _ in range(250):
        [loss] = train(model, inputs, targets, mse, optimizer, 1)
        if least is None or loss < least:
            least, best = loss, copy.deepcopy(model)
    return best
