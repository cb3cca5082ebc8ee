"""The tasks that a model can be traced for: how it is loaded, what it returns, and how it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import transformers

import splade
from refused import Refused, first_line
from tokenizer import find


def spans(answer, attention_mask) -> tuple[torch.Tensor, torch.Tensor]:
    return answer.start_logits.float(), answer.end_logits.float()


def logits(answer, attention_mask) -> torch.Tensor:
    return answer.logits.float()


class Labels(NamedTuple):
    """The names of the classes in the order of the output, and the pipeline's function for their scores."""

    names: list[str]
    function: str


@dataclass(frozen=True)
class Task:
    """`loader` is transformers' auto class, `architecture` how the names of its models end.

    `head` makes what the file returns of a model's answer and the attention mask. `pairs` says whether the examples to
    verify with are pairs of texts.
    """

    name: str
    loader: str
    architecture: str
    outputs: list[str]
    head: Callable = logits
    pairs: bool = True

    @property
    def words(self) -> str:
        return self.name.replace("-", " ")


QUESTION_ANSWERING = Task(
    "question-answering", "AutoModelForQuestionAnswering", "ForQuestionAnswering", ["start_logits", "end_logits"], spans
)
TEXT_CLASSIFICATION = Task(
    "text-classification", "AutoModelForSequenceClassification", "ForSequenceClassification", ["logits"]
)
TOKEN_CLASSIFICATION = Task(
    "token-classification", "AutoModelForTokenClassification", "ForTokenClassification", ["logits"], pairs=False
)
# Vectors, pooled as the files of sentence-transformers say.
SENTENCE_EMBEDDINGS = Task("sentence-embeddings", "AutoModel", "Model", ["sentence_embedding"], pairs=False)
FILL_MASK = Task("fill-mask", "AutoModelForMaskedLM", "ForMaskedLM", ["logits"], pairs=False)
# Weights of the vocabulary, pooled as the files of sentence-transformers say.
SPARSE_EMBEDDINGS = Task("sparse-embeddings", "AutoModelForMaskedLM", "ForMaskedLM", ["sparse_embedding"], pairs=False)
IMAGE_CLASSIFICATION = Task(
    "image-classification", "AutoModelForImageClassification", "ForImageClassification", ["logits"], pairs=False
)
CLASSIFICATIONS = [TEXT_CLASSIFICATION, TOKEN_CLASSIFICATION]
# What has vectors for answers. Nothing in an architecture says that a model is for these.
EMBEDDINGS = [SENTENCE_EMBEDDINGS, SPARSE_EMBEDDINGS]
TASKS = {
    task.name: task
    for task in [
        QUESTION_ANSWERING,
        TEXT_CLASSIFICATION,
        TOKEN_CLASSIFICATION,
        SENTENCE_EMBEDDINGS,
        SPARSE_EMBEDDINGS,
        FILL_MASK,
        IMAGE_CLASSIFICATION,
    ]
}


def choose(model: str, wanted: str | None) -> Task:
    """The task that was asked for, else the one of the architecture that config.json names.

    An encoder with files of sentence-transformers is for embeddings, whatever it was before.
    """
    if wanted:
        return TASKS[wanted]
    if splade.is_named(model):
        return SPARSE_EMBEDDINGS
    try:
        config = transformers.AutoConfig.from_pretrained(model)
    except Exception:
        # What is wrong is said where the model is loaded.
        return QUESTION_ANSWERING
    architectures = getattr(config, "architectures", None) or []
    headless = all(name.endswith((SENTENCE_EMBEDDINGS.architecture, FILL_MASK.architecture)) for name in architectures)
    if headless and find(model, "modules.json"):
        return SENTENCE_EMBEDDINGS
    for task in TASKS.values():
        # An encoder without those files has nothing that says what it is for.
        if task not in EMBEDDINGS and any(architecture.endswith(task.architecture) for architecture in architectures):
            return task
    return QUESTION_ANSWERING


def labels(config: transformers.PretrainedConfig) -> Labels:
    """What config.json says of the classes, and how the text-classification pipeline chooses its function."""
    names, problem = label_names(config), getattr(config, "problem_type", None)
    if problem == "regression":
        return Labels(names, "none")
    if problem == "multi_label_classification" or len(names) == 1:
        return Labels(names, "sigmoid")
    return Labels(names, "softmax")


def image_labels(config: transformers.PretrainedConfig) -> Labels:
    """The same for the image-classification pipeline, which knows no regression."""
    names = label_names(config)
    several = getattr(config, "problem_type", None) == "multi_label_classification"
    return Labels(names, "sigmoid" if several or len(names) == 1 else "softmax")


def label_names(config: transformers.PretrainedConfig) -> list[str]:
    return [str(config.id2label[number]) for number in range(config.num_labels)]


class Answering(torch.nn.Module):
    """A traced file in the place of a model in a pipeline: the same call, the same answer."""

    def __init__(self, original: torch.nn.Module, file: Callable, inputs: list[str], mask: int | None = None):
        super().__init__()
        self.config = original.config
        self.base_model_prefix = original.base_model_prefix
        self.dtype = torch.float32
        self.file = file
        self.inputs = inputs
        self.mask = mask

    def forward(self, **tensors):
        if "input_ids" in tensors:
            tensors.setdefault("token_type_ids", torch.zeros_like(tensors["input_ids"]))
        logits = self.file(*(tensors[name] for name in self.inputs))
        if self.mask is not None:
            # The pipeline looks at the masks of a text, and expects numbers for all of its tokens.
            places = tensors["input_ids"] == self.mask
            logits = torch.zeros(*places.shape, logits.shape[1]).masked_scatter(places[:, :, None], logits)
        return transformers.utils.ModelOutput(logits=logits)


def pipeline(task: Task, name: str, original: torch.nn.Module, file: Callable, inputs: list[str], **more):
    """transformers' own pipeline of the task, with the model's answers from `file`.

    `more` is the `mask` whose logits alone a file returns, or the `image_processor` of a model that takes pictures.
    """
    mask = more.pop("mask", None)
    try:
        if "image_processor" not in more:
            more["tokenizer"] = transformers.AutoTokenizer.from_pretrained(name)
        made = transformers.pipeline(task.name, model=original, device="cpu", **more)
    except Exception as error:
        raise Refused(f"--model {name}: has no {task.name} pipeline: {first_line(error)}") from error
    made.model = Answering(original, file, inputs, mask)
    return made
