"""Predictions of a Berth model artifact for PySpark: `df.transform(berth("s3://bucket/model", inputs=["text"]))`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame


def berth(
    artifact: str, *, inputs: Sequence[str] = (), settings: Mapping[str, str] | None = None, **options: str | int
) -> Callable[[DataFrame], DataFrame]:
    """What DataFrame.transform takes. Options are the methods of dev.berth.spark.Berth: payload, contentType, accept,
    outputColumn, errorColumn, schema, batchSize and cores."""

    def transform(rows: DataFrame) -> DataFrame:
        spark = rows.sparkSession
        model = spark._jvm.dev.berth.spark.Berth.of(artifact)
        if inputs:
            names = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(inputs))
            for i, name in enumerate(inputs):
                names[i] = name
            model = model.inputs(names)
        for name, value in options.items():
            model = getattr(model, name)(value)
        for name, value in (settings or {}).items():
            model = model.setting(name, value)
        return DataFrame(model.apply(rows._jdf), spark)

    return transform
