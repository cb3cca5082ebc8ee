"""The plot of latency against load."""

import math
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whole_server.options import Options
from whole_server.sections.curve import SHARES
from whole_server.servers import BARE, BERTH, BERTH_ONNX, ONNX_PROCESSES, PUBLISHED, TUNED, TUNED_PROCESSES, labels
from whole_server.statistics import Round, value_of
from whole_server.turn import CLIENTS

# Okabe and Ito's colours, which people with any form of colour blindness tell apart; the shapes differ as well.
STYLES = {
    BERTH: ("#0072B2", "o"),
    BERTH_ONNX: ("#56B4E9", "v"),
    TUNED: ("#D55E00", "s"),
    TUNED_PROCESSES: ("#009E73", "^"),
    ONNX_PROCESSES: ("#E69F00", "P"),
    PUBLISHED: ("#CC79A7", "D"),
}


def draw(curve: list[Round], load: list[Round], options: Options, file: Path) -> None:
    """A panel for p50 and one for p99, both of requests that arrive a second against milliseconds."""
    # Text stays text, and equal figures give an equal file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "berth", "font.size": 10}):
        figure = Figure(figsize=(11, 4.8), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for panel, metric in zip(panels, ("p50", "p99"), strict=True):
            draw_panel(panel, metric, curve, load, options)
        panels[0].set_ylabel("milliseconds from when it was due")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(file, metadata={"Date": None})


def draw_panel(panel: Axes, metric: str, curve: list[Round], load: list[Round], options: Options) -> None:
    for name, (colour, marker) in STYLES.items():
        if name in curve[0]:
            panel.plot(
                [value_of(curve, name, f"offered {share}") for share in SHARES],
                [value_of(curve, name, f"{metric} {share}") for share in SHARES],
                color=colour,
                marker=marker,
                label=labels(options.cores)[name],
            )
    bare = value_of(load, BARE, f"rate {CLIENTS}") if load else math.nan
    if not math.isnan(bare):
        panel.axvline(bare, color="black", linestyle=":", label=labels(options.cores)[BARE])
    panel.set(title=f"{metric} of a request", xlabel="requests a second", yscale="log", xlim=(0, None))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.grid(axis="y", color="#dddddd")
    panel.spines[["top", "right"]].set_visible(False)
