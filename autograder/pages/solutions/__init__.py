"""Solution and discussion: what students may read when an assignment is over."""
