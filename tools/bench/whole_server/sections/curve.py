"""How long requests take as more of them arrive: an open loop at shares of each server's own capacity."""

from whole_server.arrivals import arrive
from whole_server.options import Options
from whole_server.process import Running
from whole_server.servers import ONNX, PUBLISHED, labels
from whole_server.statistics import Metrics, Round, percentile, value_of
from whole_server.tables import Goal, number, table
from whole_server.turn import Turn

SHARES = (0.3, 0.6, 0.8, 1.0)
TIMEOUT = 120


def measure(turn: Turn) -> Round:
    # One layout of ONNX Runtime is enough here, and one round of the server that is ten times slower.
    left_out = {ONNX} | ({PUBLISHED} if turn.number else set())
    servers = [server for server in turn.rotated(turn.peers) if server.name not in left_out]
    found: Round = {server.name: {} for server in servers}
    for share in SHARES:
        for server in servers:
            found[server.name] |= point(turn, server, share)
    return found


def point(turn: Turn, server: Running, share: float) -> Metrics:
    rate = share * turn.capacity(server)
    if not rate:
        return {}
    seconds = turn.options.seconds
    arrivals = arrive(server, rate, seconds, TIMEOUT, seed=turn.number)
    times = arrivals.times(200)
    return {
        f"offered {share}": len(arrivals.requests) / seconds,
        f"answered {share}": arrivals.answered(0, seconds, TIMEOUT * 1000),
        f"p50 {share}": percentile(times, 0.5),
        f"p99 {share}": percentile(times, 0.99),
    }


def report(rounds: list[Round], options: Options) -> list[str]:
    rows = [
        [
            label,
            f"{share:.0%}",
            *[
                number(value_of(rounds, name, f"{metric} {share}"), 3)
                for metric in ("offered", "answered", "p50", "p99")
            ],
        ]
        for name, label in labels(options.cores).items()
        if name in rounds[0]
        for share in SHARES
    ]
    return [
        "### Latency against load, open loop",
        "",
        "![Latency against load](latency-against-load.svg)",
        "",
        "Requests arrive at random, at a share of what the server answered to 16 clients. Times are in milliseconds, "
        "from when a request was due.",
        "",
        *table(["server", "share", "offered/s", "answered/s", "p50", "p99"], rows),
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    return []
