"""Makes the tables in columnar/test/resources, with pyarrow 25: python make_tables.py DIRECTORY"""

import datetime
import decimal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

UTC = datetime.timezone.utc
DAY = datetime.date(2026, 1, 31)
TIME = datetime.time(10, 15, 30)


def every_type() -> pa.Table:
    return pa.table({
        "id": pa.array([1, 2, 3], pa.int64()),
        "small": pa.array([-1, None, 7], pa.int8()),
        "unsigned": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "float": pa.array([0.5, float("nan"), None], pa.float32()),
        "double": pa.array([0.1, float("inf"), None], pa.float64()),
        "flag": pa.array([True, False, None]),
        "text": pa.array(["Who came?", 'é"\n', None]),
        "repeated": pa.array(["a", "a", "b"]).dictionary_encode(),
        "binary": pa.array([b"\x00\xff", b"", None]),
        "day": pa.array([DAY, datetime.date(1969, 12, 31), None]),
        "time": pa.array([TIME.replace(microsecond=500), datetime.time(0), None], pa.time64("us")),
        "utc": pa.array([datetime.datetime.combine(DAY, TIME, UTC), None, None], pa.timestamp("us", "UTC")),
        "local": pa.array(
            [datetime.datetime(2026, 1, 31, 10, 15), datetime.datetime(1950, 1, 1, 0, 0, 0, 1), None],
            pa.timestamp("us")),
        "decimal": pa.array([decimal.Decimal("12.50"), decimal.Decimal("-0.01"), None], pa.decimal128(30, 2)),
        "list": pa.array([[1, None, 3], [], None], pa.list_(pa.int32())),
        "struct": pa.array(
            [{"a": 1, "b": ["x"]}, {"a": None, "b": None}, None],
            pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])),
        "map": pa.array([[("k", 1.5)], [], None], pa.map_(pa.string(), pa.float64())),
    })


def arrow_only() -> pa.Table:
    return pa.table({
        "byte": pa.array([255], pa.uint8()),
        "short": pa.array([65535], pa.uint16()),
        "int": pa.array([2**32 - 1], pa.uint32()),
        "half": pa.array([1.5], pa.float16()),
        "large": pa.array(["x"], pa.large_string()),
        "view": pa.array(["y"], pa.string_view()),
        "bytes": pa.array([b"\0\1"], pa.large_binary()),
        "fixed": pa.array([b"\2\3"], pa.binary(2)),
        "day": pa.array([DAY], pa.date64()),
        "second": pa.array([TIME], pa.time32("s")),
        "milli": pa.array([36930001], pa.time32("ms")),
        "nano": pa.array([36930000000001], pa.time64("ns")),
        "utc": pa.array([datetime.datetime.combine(DAY, TIME, UTC)], pa.timestamp("s", "Asia/Tokyo")),
        "wide": pa.array([decimal.Decimal("12.50")], pa.decimal256(40, 2)),
        "none": pa.nulls(1),
        "pair": pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
        "many": pa.array([["z"]], pa.large_list(pa.string())),
        "numbered": pa.array([[(1, "a")]], pa.map_(pa.int32(), pa.string())),
    })


def nested_dictionary() -> pa.Table:
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"]))
    return pa.table({"list": pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), values)})


def write_batches(path: Path, table: pa.Table) -> None:
    """Writes batches of two rows, as a file (.arrow) or a stream (.arrows)."""
    opened = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with opened(path, table.schema) as writer:
        writer.write_table(table, 2)


def main(directory: Path) -> None:
    table = every_type()
    parquet.write_table(table, directory / "every-type.parquet", row_group_size=2, compression="snappy")
    for codec in ("none", "gzip", "zstd", "lz4", "brotli"):
        parquet.write_table(
            table.select(["id", "text"]), directory / f"{codec}.parquet", row_group_size=2, compression=codec,
            data_page_version="2.0" if codec == "zstd" else "1.0")
    for suffix in ("arrow", "arrows"):
        write_batches(directory / f"every-type.{suffix}", table)
        write_batches(directory / f"empty.{suffix}", table.slice(0, 0))
    write_batches(directory / "arrow-only.arrow", arrow_only())
    write_batches(directory / "duration.arrow", pa.table({"waited": pa.array([3], pa.duration("s"))}))
    write_batches(directory / "nested-dictionary.arrows", nested_dictionary())
    texts = pa.table({"text": ["Who came?"] * 1000})
    for codec in ("lz4", "zstd"):
        feather.write_feather(texts, directory / f"{codec}.feather", compression=codec)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
