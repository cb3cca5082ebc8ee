"""Where things are: what the repository brings, and what the benchmark writes."""

from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
HOME = BENCH.parent.parent
SERVE = HOME / "serve"
JAR = HOME / "target" / "berth.jar"
CACHE = JAR.with_suffix(".aot")
IMAGE = HOME / "src" / "image"
ARTIFACT = HOME / "model-artifact"
MODEL = ARTIFACT / "model.pt"
TOKENIZER = ARTIFACT / "tokenizer.json"
SAMPLE = ARTIFACT / "sample.json"
NOTHING = BENCH / "nothing"
ONNX_SAMPLE = IMAGE / "onnx"
QUESTIONS = BENCH / "questions.jsonl"
ASK = BENCH / "ask.lua"

WORK = HOME / "target" / "bench"
TRAINING = WORK / "training"
CLASSES = WORK / "classes"
BODIES = WORK / "bodies.jsonl"
SHORT_BODIES = WORK / "short.jsonl"
MINI_BATCH = WORK / "mini-batch.jsonl"
PUBLISHED_MODEL = WORK / "published.pt"
ONNX_ARTIFACT = WORK / "onnx"
LOGS = WORK / "logs"
RAW = WORK / "results.json"

RESULTS = BENCH / "RESULTS.md"
PLOT = BENCH / "latency-against-load.svg"
