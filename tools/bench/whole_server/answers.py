"""What a server answers to one request, and whether two answers are equal."""

import http.client
import json

from whole_server.errors import BenchmarkError
from whole_server.process import Running

# How far numbers of two answers may be apart: two versions of an engine round otherwise.
CLOSE = 0.02


def answer(server: Running, body: bytes, content_type: str = "application/json", path: str = "/invocations") -> object:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("POST", path, body, {"Content-Type": content_type})
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise BenchmarkError(f"{path}: answered with {response.status}: {text[:300]!r}")
        return json.loads(text)
    finally:
        connection.close()


def close(found: object, expected: object, within: float = CLOSE) -> bool:
    if isinstance(expected, float):
        return isinstance(found, float | int) and abs(found - expected) <= within
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            close(found.get(name), value, within) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(close(one, other, within) for one, other in zip(found, expected, strict=True))
        )
    return found == expected
