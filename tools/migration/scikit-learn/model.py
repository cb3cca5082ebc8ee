import sys
from pathlib import Path

import joblib
import numpy as np
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

python, berth = artifacts.directories()
rng = np.random.default_rng(7)
rows = rng.normal(size=(500, 4)).astype(np.float32)
classes = np.digitize(rows @ [1, -1, 0.5, 0.2], [-0.5, 0.7])
model = make_pipeline(StandardScaler(), RandomForestClassifier(20, max_depth=4, random_state=7)).fit(rows, classes)
joblib.dump(model, python / "model.joblib")
onnx = to_onnx(model, rows[:1], options={"zipmap": False})
(berth / "model.onnx").write_bytes(onnx.SerializeToString())
artifacts.describe(berth, files=[{"path": "model.onnx"}], outputs=["label"])
