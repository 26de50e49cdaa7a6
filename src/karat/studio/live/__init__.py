"""Live results of a store: agreement, disputes, estimates and progress as judgements arrive."""
