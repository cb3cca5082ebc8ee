import sys
from pathlib import Path

import numpy as np
import onnxmltools
import xgboost as xgb
from onnx import TensorProto, helper
from onnxmltools.convert.common.data_types import FloatTensorType

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

python, berth = artifacts.directories()
rng = np.random.default_rng(7)
rows = rng.normal(size=(500, 5)).astype(np.float32)
rows[rng.random(rows.shape) < 0.1] = np.nan
stays = (np.nan_to_num(rows) @ [1, -1, 0.5, 0.2, 0.7] + rng.normal(size=500) > 0).astype(int)
settings = {"objective": "binary:logistic", "max_depth": 3, "seed": 7}
booster = xgb.train(settings, xgb.DMatrix(rows, stays), num_boost_round=20)
booster.save_model(python / "xgboost-model.json")

# What AWS's container answers: the probability of the second class.
model = onnxmltools.convert_xgboost(booster, initial_types=[("input", FloatTensorType([None, 5]))])
model.graph.initializer.append(helper.make_tensor("second", TensorProto.INT64, [], [1]))
model.graph.node.append(helper.make_node("Gather", ["probabilities", "second"], ["score"], axis=1))
model.graph.output.append(helper.make_tensor_value_info("score", TensorProto.FLOAT, [None]))
(berth / "model.onnx").write_bytes(model.SerializeToString())
artifacts.describe(berth, files=[{"path": "model.onnx"}], outputs=["score"])
