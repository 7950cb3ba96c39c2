# Read as text, never imported: docs/authors.md says what stands here.

# %% example: count_pairs
# about: pairs that come again, and one that overlaps itself
counts = count_pairs([1, 2, 1, 2, 2, 2])
# observe: counts


# %% mistake: count_pairs.apart
# says: Every other number was left out: the list was cut into pairs. Neighbours are the first and
#   the second, the second and the third, and so on.
# - for pair in zip(ids, ids[1:]):
# + for pair in zip(ids[::2], ids[1::2]):

# %% mistake: count_pairs.sorted
# says: The pairs (1, 2) and (2, 1) were counted as one. Which comes first makes a difference.
# - for pair in zip(ids, ids[1:]):
# + for pair in zip(ids, ids[1:]):
# +     pair = tuple(sorted(pair))

# %% mistake: count_pairs.numbers
# says: Single numbers were counted, and not pairs.
# - for pair in zip(ids, ids[1:]):
# -     counts[pair] = counts.get(pair, 0) + 1
# + for number in ids:
# +     counts[number] = counts.get(number, 0) + 1
