import sys
from pathlib import Path

import transformers

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts
import tiny_bert

python, berth = artifacts.directories()
labels = dict(enumerate(["negative", "neutral", "positive"]))
tiny_bert.save(python, transformers.BertForSequenceClassification, id2label=labels)
artifacts.trace(python, berth)
# Long texts are cut, as inference.py does.
artifacts.describe(berth, parameters={"function_to_apply": "softmax", "truncation": True})
# They are requests and answers of the task, and the hooks have others.
(berth / "sample.json").unlink()
(berth / "sample-response.json").unlink()
