"""Makes `trees.zip`: small trees of other libraries, and Python's answers to a few rows, some with missing values.

    pip install scikit-learn skl2onnx onnxmltools xgboost lightgbm
    python src/test/resources/trees/make.py
"""

import json
import zipfile
from pathlib import Path

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import IsolationForest, RandomForestClassifier

rng = np.random.default_rng(7)
x = rng.normal(size=(400, 4)).round(2).astype(np.float32)
y = (x[:, 0] + x[:, 1] ** 2 > 0.7).astype(int) + (x[:, 2] > 1)
names = np.array(["high", "low", "none"])[y]
holes = x.copy()
holes[rng.random(x.shape) < 0.3] = np.nan
trained, tested = slice(0, 392), slice(392, 400)

forest = RandomForestClassifier(n_estimators=2, max_depth=2, random_state=0).fit(x[trained], names[trained])
isolation = IsolationForest(n_estimators=1, max_samples=4, random_state=0).fit(x[trained])
boosted = xgboost.XGBClassifier(n_estimators=2, max_depth=2).fit(holes[trained], y[trained])
light = lightgbm.LGBMClassifier(n_estimators=2, max_depth=2, verbose=-1).fit(holes[trained], y[trained])
matrix = [("input", FloatTensorType([None, 4]))]
opsets = {"": 15, "ai.onnx.ml": 3}
models = {
    # Its probabilities are a list of maps.
    "random-forest": (to_onnx(forest, x[:1], target_opset=opsets), x, forest, forest.predict_proba),
    "isolation-forest": (to_onnx(isolation, x[:1], target_opset=opsets), x, isolation, isolation.decision_function),
    "xgboost": (onnxmltools.convert_xgboost(boosted, initial_types=matrix), holes, boosted, boosted.predict_proba),
    "lightgbm": (onnxmltools.convert_lightgbm(light, initial_types=matrix), holes, light, light.predict_proba),
}
with zipfile.ZipFile(Path(__file__).parent / "trees.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, (onnx, rows, model, scores) in models.items():
        cases = [
            {
                "row": [None if np.isnan(value) else round(float(value), 2) for value in row],
                "label": model.predict(row[None])[0].item(),
                "scores": [round(float(score), 6) for score in scores(row[None]).ravel()],
            }
            for row in rows[tested]
        ]
        for ending, content in (("onnx", onnx.SerializeToString()), ("json", json.dumps(cases))):
            archive.writestr(zipfile.ZipInfo(f"{name}.{ending}"), content, zipfile.ZIP_DEFLATED)
