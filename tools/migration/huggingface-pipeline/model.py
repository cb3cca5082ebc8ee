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
