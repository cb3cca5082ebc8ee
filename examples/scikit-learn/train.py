"""Makes the example's model: a pipeline of scikit-learn on made-up customers, exported to ONNX.

    pip install scikit-learn pandas skl2onnx
    python examples/scikit-learn/train.py
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

HERE = Path(__file__).parent
CITIES = ["Warsaw", "Paris", "New York, NY", "Łódź"]

# Each column is an input of its own. Whole numbers can't be missing, so a column where they can is one of floats.
COLUMNS = {
    "age": FloatTensorType([None, 1]),
    "income": FloatTensorType([None, 1]),
    "city": StringTensorType([None, 1]),
    "visits": Int64TensorType([None, 1]),
}


def customers(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draws customers, and whether they stay. A tenth of ages, incomes and cities is missing: NaN, or an empty text."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "age": rng.integers(18, 90, count).astype(np.float32),
            "income": rng.lognormal(10, 0.5, count).round(2).astype(np.float32),
            "city": rng.choice(CITIES, count),
            "visits": rng.integers(0, 30, count),
        }
    )
    score = rows.income / 20000 + (rows.city == "Paris") + rows.visits / 20 + rng.normal(0, 0.3, count)
    for column, missing in {"age": np.nan, "income": np.nan, "city": ""}.items():
        rows.loc[rng.random(count) < 0.1, column] = missing
    return rows, np.where(score > 2.2, "stays", "leaves")


def fitted() -> Pipeline:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(missing_values="", strategy="constant", fill_value="unknown"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = ColumnTransformer([("numbers", numbers, ["age", "income", "visits"]), ("texts", texts, ["city"])])
    return make_pipeline(columns, LogisticRegression()).fit(*customers(2000, seed=0))


def exported(pipeline: Pipeline) -> bytes:
    # Without zipmap=False the probabilities are a list of maps, which takes the server more time.
    onnx = to_onnx(pipeline, initial_types=list(COLUMNS.items()), options={"zipmap": False})
    return onnx.SerializeToString()


def main() -> None:
    pipeline = fitted()
    (HERE / "model.onnx").write_bytes(exported(pipeline))
    rows = pd.DataFrame({"age": [34, np.nan], "income": [51000, 18000], "city": ["Paris", ""], "visits": [3, 12]})
    sample = json.loads(rows.to_json(orient="records"))
    (HERE / "sample.json").write_text(json.dumps({"instances": sample}) + "\n", encoding="utf-8")
    print(pipeline.predict(rows), pipeline.predict_proba(rows))


if __name__ == "__main__":
    main()
