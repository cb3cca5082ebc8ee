"""Compares Berth's answers with Python's on 10,000 rows: five models, and each form of a request that they take.

    pip install scikit-learn pandas skl2onnx onnxmltools xgboost lightgbm requests
    python examples/scikit-learn/measure.py
"""

import socket
import subprocess
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
import onnxmltools
import pandas as pd
import requests
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import IsolationForest, RandomForestClassifier

import train

ROOT = Path(__file__).resolve().parents[2]
ROWS = 10_000
TRAINED = 2000


def models() -> dict:
    """For each model its ONNX file, its rows, and Python's label and scores of each row."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(TRAINED + ROWS, 8)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] ** 2 + rng.normal(0, 0.3, len(x)) > 0.7).astype(int) + (x[:, 2] > 1)
    holes = x.copy()
    holes[rng.random(x.shape) < 0.15] = np.nan
    names = [f"f{i}" for i in range(8)]
    table, table_with_holes = (pd.DataFrame(values[TRAINED:], columns=names) for values in (x, holes))

    pipeline = train.fitted()
    customers, _ = train.customers(ROWS, seed=1)
    forest = RandomForestClassifier(n_estimators=100, random_state=0).fit(x[:TRAINED], y[:TRAINED])
    isolation = IsolationForest(random_state=0).fit(x[:TRAINED])
    boosted = xgboost.XGBClassifier(n_estimators=50, max_depth=4).fit(holes[:TRAINED], y[:TRAINED])
    light = lightgbm.LGBMClassifier(n_estimators=50, max_depth=4, verbose=-1).fit(holes[:TRAINED], y[:TRAINED])
    matrix = [("input", FloatTensorType([None, 8]))]
    return {
        "pipeline": (train.exported(pipeline), customers, pipeline.predict(customers), pipeline.predict_proba(customers)),
        "random forest": (
            to_onnx(forest, x[:1]).SerializeToString(), table, forest.predict(x[TRAINED:]), forest.predict_proba(x[TRAINED:])
        ),
        "isolation forest": (
            to_onnx(isolation, x[:1], target_opset={"": 15, "ai.onnx.ml": 3}).SerializeToString(), table,
            isolation.predict(x[TRAINED:]), isolation.decision_function(x[TRAINED:])[:, None],
        ),
        "XGBoost": (
            onnxmltools.convert_xgboost(boosted, initial_types=matrix).SerializeToString(), table_with_holes,
            boosted.predict(holes[TRAINED:]), boosted.predict_proba(holes[TRAINED:]),
        ),
        "LightGBM": (
            onnxmltools.convert_lightgbm(light, initial_types=matrix).SerializeToString(), table_with_holes,
            light.predict(holes[TRAINED:]), light.predict_proba(holes[TRAINED:]),
        ),
    }  # fmt: skip


def bodies(rows: pd.DataFrame) -> dict:
    """The same rows in each form. Columns of a single input have no names, so they must be in their order."""
    named = "city" in rows
    forms = {
        "text/csv": rows.to_csv(index=False, header=False),
        "text/csv; header=present": (rows[rows.columns[::-1]] if named else rows).to_csv(index=False),
        "application/json": f'{{"instances": {rows.to_json(orient="records" if named else "values", double_precision=15)}}}',
        "application/jsonlines": "\n".join(
            row.to_json(orient="records", lines=True, double_precision=15).strip() if named
            else row.to_json(orient="values", double_precision=15)[1:-1]
            for row in (rows.iloc[i : i + 1] for i in range(len(rows)))
        ),
    }  # fmt: skip
    if not named:
        forms["text/libsvm"] = "\n".join(
            " ".join(["0"] + [f"{i}:{value}" for i, value in enumerate(row) if not np.isnan(value)]) for row in rows.to_numpy()
        )
    return forms


def main() -> None:
    for name, (onnx, rows, labels, scores) in models().items():
        with tempfile.TemporaryDirectory() as directory, socket.socket() as free:
            (Path(directory) / "model.onnx").write_bytes(onnx)
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
            free.close()
            server = subprocess.Popen(
                [ROOT / "serve", "--model-dir", directory, "--port", url.rsplit(":", 1)[1], "--log-level", "warn"]
            )
            try:
                wait(url)
                for form, body in bodies(rows).items():
                    compare(name, form, asked(url, form, body), labels, scores)
            finally:
                server.terminate()
                server.wait()


def wait(url: str) -> None:
    while True:
        try:
            if requests.get(f"{url}/ping").ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)


def asked(url: str, form: str, body: str) -> pd.DataFrame:
    answer = requests.post(
        f"{url}/invocations", body.encode(), headers={"Content-Type": form, "Accept": "text/csv"}, timeout=600
    )
    if not answer.ok:
        raise SystemExit(answer.text)
    return pd.DataFrame([row.split(",") for row in answer.text.split()])


def compare(name: str, form: str, answer: pd.DataFrame, labels: np.ndarray, scores: np.ndarray) -> None:
    same = (answer[0] == labels.astype(str)).sum()
    farthest = np.abs(answer.iloc[:, 1:].to_numpy(float) - scores).max()
    print(f"{name:16} {form:26} labels {same} of {len(labels)}, scores within {farthest:.1e}")


if __name__ == "__main__":
    main()
