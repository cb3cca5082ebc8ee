"""Makes small trees of other libraries, and Python's answers to rows with missing values.

    pip install scikit-learn skl2onnx onnxmltools xgboost lightgbm
    python src/test/resources/trees/make.py
"""

import json
from pathlib import Path

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import IsolationForest, RandomForestClassifier

HERE = Path(__file__).parent
rng = np.random.default_rng(7)
x = rng.normal(size=(400, 4)).round(3).astype(np.float32)
y = (x[:, 0] + x[:, 1] ** 2 > 0.7).astype(int) + (x[:, 2] > 1)
names = np.array(["high", "low", "none"])[y]
holes = x.copy()
holes[rng.random(x.shape) < 0.2] = np.nan
tested = slice(380, 400)

forest = RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(x[:380], names[:380])
isolation = IsolationForest(n_estimators=2, max_samples=8, random_state=0).fit(x[:380])
boosted = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(holes[:380], y[:380])
regression = xgboost.XGBRegressor(n_estimators=3, max_depth=2).fit(holes[:380], x[:380, 0] * 2)
light = lightgbm.LGBMClassifier(n_estimators=3, max_depth=2, verbose=-1).fit(holes[:380], y[:380])
matrix = [("input", FloatTensorType([None, 4]))]
opsets = {"": 15, "ai.onnx.ml": 3}
models = {
    # Its probabilities are a list of maps.
    "random-forest": (to_onnx(forest, x[:1], target_opset=opsets), x, forest.predict, forest.predict_proba),
    "isolation-forest": (
        to_onnx(isolation, x[:1], target_opset=opsets), x, isolation.predict, lambda rows: isolation.decision_function(rows)[:, None]
    ),
    "xgboost": (onnxmltools.convert_xgboost(boosted, initial_types=matrix), holes, boosted.predict, boosted.predict_proba),
    "xgboost-regression": (
        onnxmltools.convert_xgboost(regression, initial_types=matrix), holes, None, lambda rows: regression.predict(rows)[:, None]
    ),
    "lightgbm": (onnxmltools.convert_lightgbm(light, initial_types=matrix), holes, light.predict, light.predict_proba),
}  # fmt: skip
for name, (onnx, rows, predict, scores) in models.items():
    (HERE / f"{name}.onnx").write_bytes(onnx.SerializeToString())
    cases = [
        {
            "row": [None if np.isnan(value) else round(float(value), 3) for value in row],
            "label": predict(row[None])[0].item() if predict else None,
            "scores": [round(float(score), 6) for score in scores(row[None])[0]],
        }
        for row in rows[tested]
    ]
    (HERE / f"{name}.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
