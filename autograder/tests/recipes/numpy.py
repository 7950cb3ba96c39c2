# %% right: standardised
def standardised(table):
    columns = []
    for column in table.T:
        columns.append((column - sum(column) / len(column)) / np.sqrt(np.var(column)))
    return np.array(columns).T

# %% right: clip
def clip(array):
    np.maximum(array, 0, out=array)

# %% wrong: standardised
# points: 1
def standardised(table):
    return (table - table.mean()) / table.std()

# %% wrong: standardised
# points: 1
def standardised(table):
    table -= table.mean(axis=0)
    table /= table.std(axis=0)
    return table

# %% wrong: standardised
# points: 1
def standardised(table):
    return ((table - table.mean(axis=0)) / table.std(axis=0)).tolist()

# %% wrong: clip
# points: 1
def clip(array):
    array = np.maximum(array, 0)

# %% wrong: clip
# points: 1
def clip(array):
    array[array < 0] = 0
    return array
