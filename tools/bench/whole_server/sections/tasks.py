"""Tasks other than the sample's, and a model of 110 million parameters, in both formats, with FastAPI on the same files.

Weights are random, as they make no difference to the speed. The sizes are those of MiniLM with 6 layers and of
BERT-base. Embeddings are fp32, because SentenceTransformer.encode is; the others are int8.
"""

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

from whole_server import places
from whole_server.answers import answer, close
from whole_server.cases import CASES, Case
from whole_server.closed_loop import ask
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.process import Running, Server, started
from whole_server.servers import BERTH, BERTH_ONNX, berth, fastapi
from whole_server.statistics import Metrics, Round, value_of
from whole_server.tables import Goal, number, table
from whole_server.turn import CLIENTS, Turn, warm

# How often all are asked in turn.
SLICES = 2
WARM_SECONDS = 4
# A single client needs less time than many for a steady figure.
SECONDS_MANY, SECONDS_SINGLE = 3, 2
COMPARED_BODIES = 10
THREADS, PROCESSES, ENCODE = "fastapi-threads", "fastapi-processes", "fastapi-encode"
ONNX_THREADS, ONNX_PROCESSES = "fastapi-onnx-threads", "fastapi-onnx-processes"


def label(name: str, cores: int) -> str:
    return {
        BERTH: "Berth",
        BERTH_ONNX: "Berth, ONNX",
        THREADS: f"FastAPI, the same TorchScript file, 1 process × {cores} threads",
        PROCESSES: f"FastAPI, the same TorchScript file, {cores} processes × 1 thread",
        ONNX_THREADS: f"FastAPI, the same ONNX file, 1 process × {cores} threads",
        ONNX_PROCESSES: f"FastAPI, the same ONNX file, {cores} processes × 1 thread",
        ENCODE: f"FastAPI, SentenceTransformer.encode, 1 process × {cores} threads",
    }[name]


def measure(turn: Turn) -> Round:
    found: Round = {}
    for case in CASES:
        write_bodies(case)
        for name, metrics in measure_case(turn, case).items():
            found[f"{case.name}: {name}"] = metrics
    return found


def write_bodies(case: Case) -> None:
    """The passages of the questions, one in each request."""
    if case.task != "question-answering":
        lines = places.BODIES.read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["context"] for line in lines]
        if case.task == "fill-mask":
            texts = [masked(text) for text in texts]
        case.bodies.write_text("".join(json.dumps({"inputs": text}) + "\n" for text in texts), encoding="utf-8")


def masked(text: str) -> str:
    words = text.split(" ")
    return " ".join([*words[:2], "[MASK]", *words[3:]])


def servers(case: Case, cores: int) -> list[Server]:
    traced, graph = case.artifact / "model.pt", case.onnx_artifact / "model.onnx"
    compared = [
        berth(BERTH_MODEL_DIR=str(case.artifact)),
        berth(BERTH_ONNX, BERTH_MODEL_DIR=str(case.onnx_artifact)),
        peer(case, THREADS, traced, 1, cores),
        peer(case, PROCESSES, traced, cores, 1),
        peer(case, ONNX_THREADS, graph, 1, cores),
        peer(case, ONNX_PROCESSES, graph, cores, 1),
    ]
    if case.task == "sentence-embeddings":
        encode = peer(case, ENCODE, traced, 1, cores)
        more = {"PEER_ENGINE": "sentence-transformers", "PEER_MODEL": str(case.directory / "model")}
        compared.append(replace(encode, environment=encode.environment | more))
    return compared


def peer(case: Case, name: str, model: Path, processes: int, threads: int) -> Server:
    engine = "onnx" if model.suffix == ".onnx" else "torch"
    server = fastapi(name, processes, model, threads, padded=False, engine=engine)
    own = {"PEER_TOKENIZER": str(case.artifact / "tokenizer.json")}
    if case.task != "question-answering":
        own |= {"PEER_APP": "whole_server.task_peer:app", "PEER_TASK": case.task}
    return replace(server, environment=server.environment | own)


def measure_case(turn: Turn, case: Case) -> Round:
    options = turn.options
    body = case.bodies.read_bytes().splitlines()[0]
    with ExitStack() as stack:
        running = [stack.enter_context(started(server, body)) for server in servers(case, options.cores)]
        equal = equal_answers(case, running)
        for server in running:
            warm(server, replace(options, warm_seconds=min(WARM_SECONDS, options.warm_seconds)), case.bodies)
        slices = []
        for number_of in range(1 if options.quick else SLICES):
            first = number_of % len(running)
            slices.append({server.name: one(server, case, options, number_of) for server in [*running[first:], *running[:first]]})
    return {
        server.name: {"equal": equal[server.name]}
        | {metric: median(found[server.name][metric] for found in slices) for metric in slices[0][server.name]}
        for server in running
    }


def one(server: Running, case: Case, options: Options, number_of: int) -> Metrics:
    many = ask(server, CLIENTS, min(SECONDS_MANY, options.seconds), case.bodies, number_of * 137)
    single = ask(server, 1, min(SECONDS_SINGLE, options.seconds), case.bodies, number_of * 137)
    return {"rate": many.rate, "p99": many.p99, "p50": single.p50}


def equal_answers(case: Case, running: list[Running]) -> dict[str, float]:
    """The share of answers that are Berth's with the same kind of file: a peer that did less would be faster. int8 may
    round a near tie otherwise, and rounds otherwise in ONNX.

    @raises BenchmarkError: where none is equal, though answers stand out
    """
    bodies = case.bodies.read_bytes().splitlines()[:COMPARED_BODIES]
    found, berths = {}, {}
    for server in running:
        answers = [answer(server, body) for body in bodies]
        expected = berths.setdefault("onnx" in server.name, answers)
        found[server.name] = sum(map(close, answers, expected)) / len(bodies)
        if not found[server.name] and not case.has_near_ties:
            raise BenchmarkError(f"{case.name}: {server.name} answers {str(answers[0])[:150]}, Berth {str(expected[0])[:150]}")
    return found


def report(rounds: list[Round], options: Options) -> list[str]:
    rows = []
    for case in CASES:
        of_case = [value_of(rounds, f"{case.name}: {name}", "rate") for name in (BERTH, BERTH_ONNX)]
        for name in (BERTH, BERTH_ONNX, THREADS, PROCESSES, ONNX_THREADS, ONNX_PROCESSES, ENCODE):
            key = f"{case.name}: {name}"
            if key in rounds[0]:
                cells = [number(value_of(rounds, key, metric), 3) for metric in ("rate", "p99", "p50")]
                of = max(of_case) / value_of(rounds, key, "rate")
                equal = f"{value_of(rounds, key, 'equal'):.0%}"
                rows.append([case.name, label(name, options.cores), *cells, number(of, 3), equal])
    return [
        "### Tasks",
        "",
        *table(
            [
                "model",
                "server",
                f"{CLIENTS} clients: answers/s",
                "p99, ms",
                "1 client: p50, ms",
                "the better Berth's answers/s, of this",
                "equal answers",
            ],
            rows,
        ),
        "",
        "Weights are random: they make no difference to the speed. A request is one passage of the questions. With random "
        "weights no answer of BERT-base stands out: versions of libtorch round, and choose another one.",
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    """The project has none for this."""
    return []
