"""A booster of XGBoost: rows of CSV or LIBSVM are answered by probabilities."""

import json
import os
import tempfile
from io import StringIO

import numpy as np
import xgboost as xgb


def model_fn(model_dir):
    booster = xgb.Booster()
    booster.load_model(os.path.join(model_dir, "xgboost-model.json"))
    return booster


def input_fn(request_body, request_content_type):
    if request_content_type == "text/csv":
        return xgb.DMatrix(np.genfromtxt(StringIO(request_body), delimiter=",", ndmin=2))
    if request_content_type in ("text/libsvm", "text/x-libsvm"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(request_body)
            file.flush()
            return xgb.DMatrix(file.name + "?format=libsvm")
    raise ValueError(f"Content type {request_content_type} is not supported")


def predict_fn(input_data, model):
    return model.predict(input_data)


def output_fn(predictions, accept):
    if accept == "text/csv":
        return "\n".join(str(score) for score in predictions), accept
    return json.dumps({"predictions": predictions.tolist()}), "application/json"
