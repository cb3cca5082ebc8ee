"""Makes the files of this directory with NumPy; the tests of Npy and Npz read them.

    python src/test/resources/npy/make.py

They hold 0, 1, 2 … of the type and in the shape that their names say, unless said otherwise below.
"""

import io
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent


class Pipe(io.RawIOBase):
    """Takes what is written and can't go back, as standard output."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.written += bytes(data)
        return len(data)


def save(name: str, array: numpy.ndarray) -> None:
    with (HERE / f"{name}.npy").open("wb") as file:
        numpy.lib.format.write_array(file, array, allow_pickle=True)


def main() -> None:
    for kind in ("bool", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "u2", "u4", "u8", "c8"):
        count = 2 if kind == "bool" else 6
        save(f"{kind}-2x{count // 2}", numpy.arange(count).astype(kind).reshape(2, count // 2))
    for kind in ("i2", "i4", "i8", "f2", "f4", "f8", "u2", "u4"):
        save(f"big-endian-{kind}-2x3", numpy.arange(6, dtype=f">{kind}").reshape(2, 3))
    # The largest numbers, which a signed type of the same size would make negative.
    save("u2-largest", numpy.array([0, 2**16 - 1], dtype="u2"))
    save("u4-largest", numpy.array([0, 2**32 - 1], dtype="u4"))
    save("fortran-f4-2x3x4", numpy.asfortranarray(numpy.arange(24, dtype="f4").reshape(2, 3, 4)))
    save("fortran-big-endian-u2-3x2", numpy.asfortranarray(numpy.arange(6, dtype=">u2").reshape(3, 2)))
    save("fortran-bool-2x2", numpy.asfortranarray(numpy.array([[False, True], [False, False]])))
    save("scalar-f8", numpy.float64(2.5))
    save("empty-f4-0x7", numpy.zeros((0, 7), dtype="f4"))
    save("empty-fortran-u2-3x0x2", numpy.zeros((3, 0, 2), dtype="u2", order="F"))
    save("i4-5", numpy.arange(5, dtype="i4"))
    # What must be refused.
    save("object", numpy.array([{"a": 1}], dtype=object))
    save("unicode", numpy.array(["text"]))
    save("bytes", numpy.array([b"text"]))
    save("datetime", numpy.array(["2024-01-01"], dtype="M8[D]"))

    named = {"second": numpy.arange(3, dtype="i4"), "first/ä": numpy.float32(0.5)}
    numpy.savez(HERE / "stored.npz", **named)
    numpy.savez_compressed(HERE / "compressed.npz", **named)
    numpy.savez(HERE / "empty.npz")
    numpy.savez(HERE / "object.npz", numpy.array([None], dtype=object))
    for name, write in (("piped", numpy.savez), ("piped-compressed", numpy.savez_compressed)):
        pipe = Pipe()
        write(pipe, **named)
        (HERE / f"{name}.npz").write_bytes(pipe.written)


if __name__ == "__main__":
    main()
