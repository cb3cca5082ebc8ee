import sys
from pathlib import Path

import transformers

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts
import tiny_bert

python, berth = artifacts.directories()
tiny_bert.save(python, transformers.BertModel)
artifacts.trace(python, berth, "--task", "sentence-embeddings")
artifacts.describe(berth, parameters={"normalize_embeddings": True})
# They are a request and an answer of the task, and the hooks have others.
(berth / "sample.json").unlink()
(berth / "sample-response.json").unlink()
