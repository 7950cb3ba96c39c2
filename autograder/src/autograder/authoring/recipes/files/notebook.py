# %% assignment: files
# title: Reading, writing, printing

# %% exercise: warm
# title: Warm days
# text: The file `days.csv`, beside this notebook, has a line for each day, its name and its
#   temperature with a comma between them. Write the names of the warm days into another file.
def warm(source, target, least):
    """Write the days of the file `source` with at least that temperature, a line each, to `target`.

    Example:
        warm("days.csv", "warm.txt", 25) writes Tuesday and Saturday.
    """
    ### BEGIN SOLUTION
    with open(source) as days, open(target, "w") as found:
        for line in days:
            day, temperature = line.split(",")
            if float(temperature) >= least:
                print(day, file=found)
    ### END SOLUTION

# %% exercise: bars
# title: Bars
# text: Print a bar of stars for each number.
def bars(counts):
    """Print a line for each count: as many stars.

    Example:
        bars([2, 3]) prints ** and, below it, ***.
    """
    ### BEGIN SOLUTION
    for count in counts:
        print("*" * count)
    ### END SOLUTION
