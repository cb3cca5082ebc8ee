"""Calls the hooks of each inference.py as AWS's PyTorch container does: try.py LINEAR_DIR CLASSIFIER_DIR."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

REQUESTS = {
    "linear": {"flats": [{"squareMetres": 70, "rooms": 3}]},
    "classifier": {"inputs": ["I like this.", "Not my cup of tea."]},
}


def hooks(name: str) -> ModuleType:
    path = Path(__file__).parent / name / "inference.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    for (name, request), directory in zip(REQUESTS.items(), sys.argv[1:], strict=True):
        module = hooks(name)
        model = module.model_fn(directory)
        data = module.input_fn(json.dumps(request), "application/json")
        print(*module.output_fn(module.predict_fn(data, model), "application/json"))


if __name__ == "__main__":
    main()
