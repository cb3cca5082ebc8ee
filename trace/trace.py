"""Traces a Hugging Face model into a model artifact that Berth serves, for the task that it was fine-tuned for.

The steps, in the order of `make_artifact`:

1. load the model in fp32, and its tokenizer, made from the vocabulary where there is no tokenizer.json;
2. for CPUs and GPUs, compare its answers at a lower precision with those in fp32; too few equal ones are refused;
3. answer the sample with the untraced model;
4. trace it at the precision that is asked for: to TorchScript of any batch size and length for CPUs and GPUs, with the
   Neuron compiler for the given shapes for Inf1, Inf2 and Trn1;
5. read the traced model back and compare it with the untraced one on many shapes; one that differs is refused;
6. write the model files, `tokenizer.json`, `model.json`, `sample.json` and `sample-response.json`;
7. pack them, when an archive is asked for.

For tasks other than question answering step 5 also compares the answers of transformers' own pipeline: once with the
untraced model, once with the file.

    python trace/trace.py --model ID_OR_DIRECTORY --target gpu --output my-model --name model.tar.gz

Arguments may also stand in a file, one a line: `python trace/trace.py @trace/minilm-qa.args --model …`.
"""

import argparse
import io
import json
import sys
import warnings
from pathlib import Path

try:
    import torch
    import transformers
    from torch import nn
except ModuleNotFoundError as missing:
    sys.exit(f"trace.py: found no {missing.name}; install what it needs: pip install -r trace/requirements-cpu.txt")

import agreement
import artifact
import asking
import dynamic
import neuron
import onnx_format
import tasks
import verification
from agreement import Agreement
from answering import Answering
from pictures import Pictures, load_pictures
from progress import Steps, warn
from refused import Refused, last_line
from subject import Subject, load_subject
from targets import TARGETS, choose_precision
from tokenizer import find


# As a shell reports the signal.
INTERRUPTED = 130


def main() -> None:
    arguments = parse_arguments()
    silence_expected_warnings()
    try:
        make_artifact(arguments)
    except Refused as refusal:
        sys.exit(f"error: {refusal}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Trace a Hugging Face model into a model artifact.", fromfile_prefix_chars="@"
    )
    parser.add_argument("--model", required=True, help="Hugging Face model ID, or a directory in that layout")
    parser.add_argument("--output", required=True, type=Path, help="directory to write the artifact to")
    parser.add_argument(
        "--task", choices=tasks.TASKS, help="what the model is for; by default what its config.json says"
    )
    parser.add_argument("--target", choices=TARGETS, default="cpu", help="what the artifact runs on")
    parser.add_argument(
        "--precision",
        choices=["fp32", "fp16", "bf16", "int8"],
        help="by default int8 on cpu, fp16 on gpu, either fp32 where that answers otherwise; bf16 on the others",
    )
    parser.add_argument(
        "--format",
        choices=["torchscript", "onnx"],
        default="torchscript",
        help="of the file; onnx runs on cpu only, in fp32 or int8 (default: %(default)s)",
    )
    parser.add_argument(
        "--min-agreement",
        type=float,
        default=agreement.LEAST,
        metavar="SHARE",
        help="refuse a --precision that gives the answers of fp32 to a smaller share of questions; 0 takes any "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--sequence-length",
        type=int,
        nargs="+",
        metavar="N",
        help="the tokens of a row, for each shape to compile; inf1, inf2 and trn1 only",
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        nargs="+",
        metavar="N",
        help="the rows of a batch, for each shape to compile; inf1, inf2 and trn1 only",
    )
    parser.add_argument(
        "--mecab-dictionary",
        type=Path,
        metavar="DIR",
        help="MeCab's compiled dictionary, for a Japanese BERT; by default the installed package that the model names",
    )
    parser.add_argument("--name", metavar="model.tar.gz", help="also pack the artifact into this file in --output")
    parser.add_argument("--licence", help="licence of the weights, kept in model.json")
    parser.add_argument("--attribution", action="append", default=[], help="a work to credit; may be repeated")
    return parser.parse_args()


def make_artifact(arguments: argparse.Namespace) -> None:
    target = arguments.target
    precision = choose_precision(target, arguments.precision)
    check(arguments, precision)
    # Before the model is loaded, as it may be missing.
    library = neuron.load_library(target) if TARGETS[target].library else None

    # What the Neuron compilers make of a model runs on their devices only.
    compares = precision != "fp32" and not library
    steps = Steps(5 + compares + bool(arguments.name))
    steps.next(f"load {arguments.model}")
    task = tasks.choose(arguments.model, arguments.task)
    to_onnx = arguments.format == "onnx"
    subject = load(arguments, task, neuron.ATTENTION if library else onnx_format.ATTENTION if to_onnx else None)
    if to_onnx:
        subject = onnx_format.exporting(subject)
    measured = None
    if compares:
        steps.next(f"compare answers in {precision} and fp32")
        precision, measured = precision_that_agrees(arguments, precision, subject)
    entries = [{"path": onnx_format.FILE if to_onnx else dynamic.FILE}]
    if library:
        entries = (
            subject.entries(arguments.batch_size)
            if task is tasks.IMAGE_CLASSIFICATION
            else neuron.entries(arguments.sequence_length, arguments.batch_size, subject.longest)
        )
    # The Neuron compilers lower the precision by themselves.
    untraced = subject.module("fp32" if library else precision)
    description = describe(arguments, precision, subject, entries, measured)

    steps.next("answer the sample")
    if task is tasks.QUESTION_ANSWERING:
        sample, answer = subject.language.sample, answer_sample(subject, description, untraced)
        print(f"sample: {answer['answer']!r}, score {answer['score']:.4f}")
    else:
        sample, answer = asking.sample(arguments.model, subject, untraced)
        print(f"sample: {json.dumps(answer, ensure_ascii=False)[:100]}")
    if library:
        files = neuron.trace(library, subject, untraced, target, precision, entries, steps)
    elif to_onnx:
        files = onnx_format.trace(subject, untraced, precision, steps)
        traced = onnx_format.Loaded(files[onnx_format.FILE], subject.inputs)
    else:
        files = dynamic.trace(subject, untraced, target, precision, steps)
        traced = torch.jit.load(io.BytesIO(files[dynamic.FILE]))
    if not library and task is not tasks.QUESTION_ANSWERING:
        asking.verify(arguments.model, subject, untraced, traced, precision)

    steps.next(f"write {arguments.output}")
    tokenizer = None
    if task is not tasks.IMAGE_CLASSIFICATION:
        files |= subject.files
        tokenizer = subject.tokenizer_json
    if task not in (tasks.QUESTION_ANSWERING, tasks.IMAGE_CLASSIFICATION):
        settings = {name: find(subject.source, name) for name in artifact.TOKENIZER_SETTINGS}
        files |= {name: file for name, file in settings.items() if file}
    answer = exact(task, answer, target, precision)
    artifact.write(arguments.output, description, tokenizer, files, sample, answer)
    if arguments.name:
        steps.next(f"pack {arguments.name}")
        archive = artifact.pack(arguments.output, arguments.name)
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")
    if measured and not arguments.precision:
        # The last line, because whoever compares the answers with Python's finds other scores.
        apart = f"{measured.largest_score_difference:.2g}"
        warn(f"scores in {precision}, the default, are up to {apart} from those in fp32; --precision fp32 keeps them")


def load(arguments: argparse.Namespace, task: tasks.Task, attention: str | None) -> Subject | Pictures:
    """`attention` is that of the Neuron compilers or of exports, and None otherwise."""
    if task is not tasks.IMAGE_CLASSIFICATION:
        return load_subject(arguments.model, attention, arguments.mecab_dictionary, task, compiled=bool(TARGETS[arguments.target].library))
    if arguments.sequence_length:
        raise Refused("--sequence-length: a model that takes pictures has no tokens; leave it out")
    if arguments.mecab_dictionary:
        raise Refused("--mecab-dictionary: a model that takes pictures has no words; leave it out")
    return load_pictures(arguments.model, attention)


def exact(task: tasks.Task, answer, target: str, precision: str):
    """The sample's answer where each machine gives the same: it is compared at start. int8 and fp16 round otherwise."""
    return answer if task is tasks.QUESTION_ANSWERING or (target, precision) == ("cpu", "fp32") else None


def check(arguments: argparse.Namespace, precision: str) -> None:
    """Refuses what can be refused before anything is loaded."""
    if arguments.format == "onnx":
        onnx_format.check(precision, arguments.target)
    artifact.check_directory(arguments.output)
    if arguments.name:
        artifact.check_archive_name(arguments.name)
    if arguments.model.startswith((".", "/", "~")) and not Path(arguments.model).is_dir():
        raise Refused(f"--model {arguments.model}: there is no such directory")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise Refused(f"--output {arguments.output}: is no directory")
    sizes = {"--sequence-length": arguments.sequence_length, "--batch-size": arguments.batch_size}
    for option, values in sizes.items():
        if values and not TARGETS[arguments.target].library:
            raise Refused(f"{option}: a model for {arguments.target} takes any length and batch size; leave it out")
        if values and min(values) < 1:
            raise Refused(f"{option} {min(values)}: expected at least 1")
    if not 0 <= arguments.min_agreement <= 1:
        raise Refused(f"--min-agreement {arguments.min_agreement:g}: expected a share between 0 and 1")
    if arguments.target == "cpu" and precision == "bf16" and not computes_bf16():
        warn("this CPU has no bf16 instructions (avx512_bf16, amx_bf16): bf16 is slower here than fp32")


def computes_bf16() -> bool:
    """Whether this CPU multiplies bf16 numbers; where the system does not say, it is taken for granted."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return True
    return not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(flags)


def precision_that_agrees(
    arguments: argparse.Namespace, precision: str, subject: Subject | Pictures
) -> tuple[str, Agreement | None]:
    """`precision` and how far its answers are those of fp32; or fp32, where a default gives too many others."""
    if precision == "int8" and not has_int8_layers(subject):
        found = f"{type(subject.model).__name__} has no linear layers that int8 is for"
        if arguments.precision:
            raise Refused(f"--precision int8: {found}; use fp32 or bf16")
        print(f"precision: fp32, as {found}")
        return "fp32", None
    measured = agreement.measure(subject, precision)
    print(f"{precision} and fp32: {measured}", flush=True)
    by_default = arguments.precision is None
    least = max(agreement.GOOD, arguments.min_agreement) if by_default else arguments.min_agreement
    if measured.share >= least:
        if measured.share < agreement.GOOD:
            warn(f"--precision {precision}: gives the answers of fp32 to {measured.share:.0%} of the questions only")
        return precision, measured
    if by_default:
        print(f"precision: fp32, slower than {precision}, which gives its answers to less than {least:.0%}")
        return "fp32", None
    raise Refused(
        f"--precision {precision}: gives the answers of fp32 to {measured.share:.1%} of {measured.questions} "
        f"questions, expected at least {least:.1%}; use fp32, or --min-agreement to take it"
    )


def has_int8_layers(subject: Subject | Pictures) -> bool:
    # As in model.py: some builds have no torch.ao.
    from quantisation import has_layers

    return has_layers(subject.model)


def answer_sample(subject: Subject, description: dict, untraced: nn.Module) -> dict:
    """What the server must answer to the sample, found without the traced files."""
    answering = Answering(description, subject.tokenizer)
    threads = torch.get_num_threads()
    # One sum, one order: with more threads, the score would depend on the number of cores.
    torch.set_num_threads(1)
    try:
        return answering.best_answer(lambda *row: verification.run(untraced, row).unbind(1), **subject.language.sample)
    except ValueError as error:
        raise Refused(f"the sample does not fit the model: {last_line(error)}") from error
    finally:
        torch.set_num_threads(threads)


def describe(
    arguments: argparse.Namespace, precision: str, subject: Subject | Pictures, files: list[dict], measured: Agreement | None
) -> dict:
    """What `model.json` says. It holds no time and no path: made twice, it is the same."""
    is_directory = Path(arguments.model).is_dir()
    return {
        "format": artifact.FORMAT,
        "task": subject.task.name,
        "target": arguments.target,
        "precision": precision,
        "torch": torch.__version__.split("+")[0],
        **subject.rows(),
        "shapes": "compiled" if TARGETS[arguments.target].library else "dynamic",
        "outputs": subject.task.outputs,
        # Refused otherwise.
        "independentRows": True,
        "files": files,
        **({"agreement": measured.described()} if measured else {}),
        "provenance": {
            "model": Path(arguments.model).resolve().name if is_directory else arguments.model,
            "architecture": type(subject.model).__name__,
            "licence": arguments.licence,
            "attribution": arguments.attribution,
        },
    }


def silence_expected_warnings() -> None:
    """Tracing and quantisation are deprecated in torch, but nothing else makes a file that libtorch 2.7 reads. Negative
    indices would be found by the comparison with the untraced model."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=UserWarning, message=".*quantized tensor creation functions.*")
    warnings.filterwarnings("ignore", category=UserWarning, message="Exporting aten::index operator.*")
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
    transformers.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()


if __name__ == "__main__":
    main()
