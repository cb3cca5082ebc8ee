"""What ends a benchmark."""


class BenchmarkError(Exception):
    """Something that the user can put right; its message is one line."""
