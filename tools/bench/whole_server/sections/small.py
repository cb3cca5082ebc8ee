"""Small requests: rows of tables, and pictures of 100 KB, where the server costs more than the model.

Berth's handlers have no code of their own here. The peers are FastAPI, tuned by hand, and MLServer for the bodies of the
Open Inference Protocol. All serve the same file, and their answers are compared before anything is measured.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from statistics import median

from whole_server.answers import CLOSE, answer, close
from whole_server.closed_loop import ask, drive
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.process import Running, Server, started
from whole_server.servers import BERTH, berth, module
from whole_server.small_cases import CASES, CSV, DENSE, JSON, PICTURES, Case, Form
from whole_server.statistics import Metrics, Round, ratio_of, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import CLIENTS, Turn

COUNTS = (1, 16, 64)
# How often all are asked in turn.
SLICES = 2
SECONDS, WARM_SECONDS = 2, 5
FASTAPI, MLSERVER, MLSERVER_WORKERS = "fastapi", "mlserver", "mlserver-workers"
NAMES = (BERTH, FASTAPI, MLSERVER, MLSERVER_WORKERS)
# Numbers of tables come from the same engine. Pictures come from two versions of libtorch and two decoders.
CLOSE_NUMBERS = 1e-4
COMPARED_BODIES = 3
RESIDENT = "resident"
# The least share of FastAPI's answers, by rows and clients. It is the same for JSON and CSV.
LEAST = {("1 row", 1): 1.0, ("1 row", 16): 1.7, ("370 rows", 1): 1.3, ("370 rows", 16): 1.3}
MOST_MEGABYTES = 300


def label(name: str, cores: int) -> str:
    return {
        BERTH: "Berth",
        FASTAPI: f"FastAPI, {cores} processes × 1 thread",
        MLSERVER: "MLServer, 1 process × 1 thread",
        MLSERVER_WORKERS: f"MLServer, {cores} workers × 1 thread",
    }[name]


def measure(turn: Turn) -> Round:
    found: Round = {}
    for case in CASES:
        for name, metrics in measure_case(case, turn.options).items():
            found[f"{case.name}: {name}"] = metrics
    return found


def servers(case: Case, options: Options) -> list[Server]:
    environment = {"PEER_APP": f"whole_server.{case.peer}:app", "PEER_MODEL": str(case.model), "PEER_THREADS": "1"}
    found = [
        replace(berth(BERTH_MODEL_DIR=str(case.artifact)), ready="/ping"),
        replace(module(FASTAPI, "serve_peer", options.cores, **environment), ready="/ping"),
    ]
    if options.mlserver and any(form.is_v2 for form in case.forms):
        for name, workers in ((MLSERVER, 0), (MLSERVER_WORKERS, options.cores)):
            peer = module(name, "mlserver", options.mlserver, case.model, workers)
            found.append(replace(peer, ready="/v2/models/model/ready"))
    return found


def measure_case(case: Case, options: Options) -> Round:
    with ExitStack() as stack:
        running = [stack.enter_context(started(server)) for server in servers(case, options)]
        asked = [(server, form) for form in case.forms for server in running if takes(server, form)]
        for server, form in asked:
            check_equal(server, form, running[0], case)
            drive(
                server, CLIENTS, min(WARM_SECONDS, options.warm_seconds), form.bodies, 0, form.content_type, form.path
            )
        slices = [one(asked, options) for _ in range(1 if options.quick else SLICES)]
        resident = {server.name: server.resident_megabytes() for server in running}
    return {
        name: {metric: median(found[name][metric] for found in slices) for metric in slices[0][name]}
        | {RESIDENT: resident[name]}
        for name in slices[0]
    }


def takes(server: Running, form: Form) -> bool:
    """FastAPI knows /invocations alone, MLServer the Open Inference Protocol alone."""
    return server.name == BERTH or form.is_v2 == server.name.startswith(MLSERVER)


def one(asked: list[tuple[Running, Form]], options: Options) -> Round:
    found: Round = {}
    for clients in COUNTS:
        for server, form in asked:
            metrics = found.setdefault(server.name, {})
            for metric, value in ask_form(server, form, clients, min(SECONDS, options.seconds)).items():
                metrics[key(metric, form, clients)] = value
    return found


def ask_form(server: Running, form: Form, clients: int, seconds: int) -> Metrics:
    before = server.processor_seconds()
    load = ask(server, clients, seconds, form.bodies, 0, content_type=form.content_type, path=form.path)
    core = 1000 * (server.processor_seconds() - before) / load.answers
    return {"rate": load.rate, "p50": load.p50, "p99": load.p99, "core": core}


def key(metric: str, form: Form, clients: int) -> str:
    return f"{metric} of {form.name}, {clients}"


def check_equal(server: Running, form: Form, berth_server: Running, case: Case) -> None:
    """Compares with what Berth answers to the first form of the same rows.

    @raises BenchmarkError: where the answers differ, since a server that did less would be faster
    """
    first = next(other for other in case.forms if other.size == form.size)
    for file in sorted(form.bodies.iterdir())[:COMPARED_BODIES]:
        found = predictions(answer(server, file.read_bytes(), form.content_type, form.path))
        same = (first.bodies / file.name).read_bytes()
        expected = predictions(answer(berth_server, same, first.content_type, first.path))
        if not close(found, expected, CLOSE if form in PICTURES.forms else CLOSE_NUMBERS):
            raise BenchmarkError(f"{form.name}: {server.name} answers {str(found)[:150]}, Berth {str(expected)[:150]}")


def predictions(found: object) -> object:
    """Without what formats say around the numbers of a table, which are put in one list."""
    if isinstance(found, dict):
        return predictions(found["outputs"][0]["data"] if "outputs" in found else found["predictions"])
    if isinstance(found, list) and found and isinstance(found[0], list):
        return [number for row in found for number in row]
    return found


def report(rounds: list[Round], options: Options) -> list[str]:
    return [
        "### Small requests",
        "",
        *table(
            ["model", "request", "server", "1 client: answers/s", "p50, ms", "p99, ms"]
            + [
                f"{clients} clients: {metric}"
                for clients in COUNTS[1:]
                for metric in ("answers/s", "p99, ms", "ms of a core for one")
            ]
            + [f"Berth of this, {clients}" for clients in COUNTS],
            [row for case in CASES for form in case.forms for row in rows(rounds, case, form, options.cores)],
        ),
        "",
        *table(
            ["model", "server", "resident MB afterwards"],
            [
                [case.name, label(name, options.cores), number(value_of(rounds, f"{case.name}: {name}", RESIDENT), 3)]
                for case in CASES
                for name in NAMES
                if f"{case.name}: {name}" in rounds[0]
            ],
        ),
        "",
        "A table has 30 columns, and 370 rows are 105 KB of JSON. All servers that are compared have the same file, and "
        "answered the same. MLServer takes the Open Inference Protocol alone (v2 JSON)."
        + (
            " Of pages that its two layouts share each has half."
            if options.mlserver
            else " It was left out: no `--mlserver`."
        ),
    ]


def rows(rounds: list[Round], case: Case, form: Form, cores: int) -> Iterable[list[str]]:
    own = f"{case.name}: {BERTH}"
    for name in NAMES:
        server = f"{case.name}: {name}"
        if key("rate", form, 1) in rounds[0].get(server, {}):
            single = [value_of(rounds, server, key(metric, form, 1)) for metric in ("rate", "p50", "p99")]
            many = [
                value_of(rounds, server, key(metric, form, clients))
                for clients in COUNTS[1:]
                for metric in ("rate", "p99", "core")
            ]
            ratios = [ratio_of(rounds, key("rate", form, clients), own, server) for clients in COUNTS]
            yield [case.name, form.name, label(name, cores), *(number(value, 3) for value in (*single, *many, *ratios))]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    berth_dense, fastapi_dense = (f"{DENSE.name}: {name}" for name in (BERTH, FASTAPI))
    return [
        *(
            at_least(
                f"{form.name}, {clients} client{'s' if clients > 1 else ''}: answers/s of FastAPI's",
                ratio_of(rounds, key("rate", form, clients), berth_dense, fastapi_dense),
                least,
            )
            for form in DENSE.forms
            for (size, clients), least in LEAST.items()
            if form.size == size and form.format in (JSON, CSV)
        ),
        at_most("resident after bodies of 370 rows", value_of(rounds, berth_dense, RESIDENT), MOST_MEGABYTES, " MB"),
    ]
