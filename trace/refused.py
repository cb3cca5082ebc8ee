"""The one exception that is meant for the user of trace.py."""

import re

# The frames that torch writes below a message: `path(line): function`, below `At:` where C++ called Python.
FRAME = re.compile(r"At:$|.+\(\d+\): [\w<>.]+$")

# What to do where a family can't be served.
INSTEAD = "take a model such as BERT, RoBERTa, DeBERTa or ModernBERT"


class Refused(Exception):
    """The model cannot become an artifact; the message says why in one line and is all that the user sees."""


def last_line(error: BaseException) -> str:
    """What TorchScript and the compilers end their long messages with: the cause, and below it frames at most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not FRAME.match(line)]
    return lines[-1] if lines else type(error).__name__


def first_line(error: BaseException) -> str:
    """What transformers begins its long messages with: the problem, before the advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
