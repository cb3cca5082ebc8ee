"""Traces tiny SPLADEs, and compares the file with the pooling written out in torch, and with sentence-transformers."""

import json
import shutil
import tarfile

import pytest
import safetensors.torch
import tokenizers
import torch
import transformers

import agreement
import asking
import onnx_format
import splade
import task_fixtures
import task_models
import tasks
import verification
from refused import Refused
from subject import load_subject
from task_models import FAMILIES, LONGEST, STATIC

TEXTS = [task_fixtures.SHORT, task_fixtures.LONG, task_fixtures.TOO_LONG, "", *task_fixtures.ODD]
FORMATS = ["torchscript", "onnx"]
SETTINGS = "config_sentence_transformers.json"


@pytest.fixture
def model(tmp_path):
    return task_models.save("sparse-embeddings", "bert", tmp_path / "model")


@pytest.fixture
def routed(tmp_path):
    """With a table for queries."""
    return task_models.save("sparse-embeddings", "distilbert", tmp_path / "model")


def write(directory, name, value):
    task_models.write_json(directory / name, value)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def formatted(form):
    """The options for a format, where it is installed."""
    if form == "onnx":
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
    return ["--format", form]


def weights(output, texts):
    """What an artifact's file returns for texts in one batch, cut and padded as the server does it."""
    description = read(output / "model.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(output / "tokenizer.json"))
    tokenizer.enable_truncation(description["maxSequenceLength"])
    encodings = [tokenizer.encode(text) for text in texts]
    rows = verification.batch(encodings, description["inputs"], description["pair"]["padding"])
    file = output / description["files"][0]["path"]
    content = file.read_bytes()
    served = onnx_format.Loaded(content, description["inputs"]) if file.suffix == ".onnx" else torch.jit.load(file)
    with torch.no_grad():
        return served(*rows)


def reference(directory, text, pool, activation=torch.log1p):
    """Of a text alone, so that nothing is padded."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    encoder = transformers.AutoModelForMaskedLM.from_pretrained(directory).eval()
    row = tokenizer(text, truncation=True, max_length=LONGEST - 8, return_tensors="pt")
    with torch.no_grad():
        return pool(activation(torch.relu(encoder(**row).logits[0])))


POOLS = {"max": lambda weights: weights.max(0).values, "sum": lambda weights: weights.sum(0)}
ACTIVATIONS = {"relu": torch.log1p, "log1p_relu": lambda values: torch.log1p(torch.log1p(values))}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("pool", POOLS)
def test_weights_are_pooled_as_the_files_say(make, model, tmp_path, pool, activation, form):
    write(model, "1_SpladePooling/config.json", {"pooling_strategy": pool, "activation_function": activation})
    description = make(model, tmp_path / "out", *formatted(form))
    assert (description["task"], description["outputs"]) == ("sparse-embeddings", ["sparse_embedding"])
    expected = torch.stack([reference(model, text, POOLS[pool], ACTIVATIONS[activation]) for text in TEXTS])
    found = weights(tmp_path / "out", TEXTS)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    assert ((found > 0).sum(1) > 5).all()
    assert (found == 0).any(1).all()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_those_of_sentence_transformers(make, tmp_path, family, form):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    directory = task_models.save("sparse-embeddings", family, tmp_path / "model")
    make(directory, tmp_path / "out", *formatted(form))
    encoder = sentence_transformers.SparseEncoder(str(directory), device="cpu")
    expected = encoder.encode(TEXTS, convert_to_sparse_tensor=False)
    torch.testing.assert_close(weights(tmp_path / "out", TEXTS), expected, atol=1e-4, rtol=0)


def test_the_sample_is_answered_by_tokens_the_largest_first(make, model, tmp_path):
    make(model, tmp_path / "out")
    served, asked = read(tmp_path / "out" / "sample-response.json"), read(tmp_path / "out" / "sample.json")["inputs"]
    assert list(served.values()) == sorted(served.values(), reverse=True)
    expected = reference(model, asked, POOLS["max"])
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    named = {tokenizer.id_to_token(id): weight for id, weight in enumerate(expected.tolist()) if weight > 0}
    assert served == pytest.approx(named, abs=1e-4)


def test_the_sample_is_the_text_whose_tokens_are_the_same_on_any_machine(model):
    subject = load_subject(str(model), None, task=tasks.SPARSE_EMBEDDINGS)
    texts = asking.texts(str(model), subject)
    encoder = transformers.AutoModelForMaskedLM.from_pretrained(model).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    with torch.no_grad():
        nearest = [
            encoder(**tokenizer(text, return_tensors="pt")).logits[0].max(0).values.abs().min().item() for text in texts
        ]
    assert asking.clearest(texts, subject) == texts[nearest.index(max(nearest))]


def test_what_the_vocabulary_does_not_name_has_no_weight():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "b": 1, "c": 2}, unk_token="a"))
    assert list(splade.named([0.0, 0.5, 2.0, 1.0], tokenizer).items()) == [("c", 2.0), ("b", 0.5)]


def test_a_masked_language_model_alone_fills_in_masks(model):
    assert tasks.choose(str(model), None) is tasks.SPARSE_EMBEDDINGS
    assert tasks.choose(str(model), "fill-mask") is tasks.FILL_MASK
    (model / "modules.json").unlink()
    assert tasks.choose(str(model), None) is tasks.FILL_MASK


def test_without_modules_the_largest_logits_are_taken(make, model, tmp_path, capsys):
    (model / "modules.json").unlink()
    description = make(model, tmp_path / "out", "--task", "sparse-embeddings")
    assert "has no modules.json, so the largest logits are taken" in capsys.readouterr().err
    # The other files of sentence-transformers count without it too.
    assert description["maxSequenceLength"] == LONGEST - 8
    expected = reference(model, TEXTS[0], POOLS["max"])
    torch.testing.assert_close(weights(tmp_path / "out", TEXTS[:1])[0], expected, atol=1e-4, rtol=0)


def test_vectors_of_lower_precision_are_compared_by_their_cosine(model):
    subject = load_subject(str(model), None, task=tasks.SPARSE_EMBEDDINGS)
    one, other = (
        torch.cat([verification.run(subject.module(precision), row) for row in subject.compared()])
        for precision in ("fp32", "int8")
    )
    cosines = torch.nn.functional.cosine_similarity(one, other)
    assert agreement.measure(subject, "int8").same_answers == int((cosines >= agreement.SAME_VECTOR).sum())


def table_of(directory, output):
    """The table as the artifact should have it."""
    stored = safetensors.torch.load_file(directory / STATIC / "model.safetensors")["weight"]
    tokenizer = tokenizers.Tokenizer.from_file(str(output / "tokenizer.json"))
    return {tokenizer.id_to_token(id): weight for id, weight in enumerate(stored.tolist()) if weight}


def test_a_table_for_queries_is_in_the_artifact(make, routed, tmp_path):
    make(routed, tmp_path / "out", "--name", "model.tar.gz")
    table = read(tmp_path / "out" / "idf.json")
    assert table == pytest.approx(table_of(routed, tmp_path / "out"), rel=1e-7)
    with tarfile.open(tmp_path / "out" / "model.tar.gz") as archive:
        assert "idf.json" in archive.getnames()
    # A model without one, traced to the same place.
    make(task_models.save("sparse-embeddings", "bert", tmp_path / "bert"), tmp_path / "out")
    assert not (tmp_path / "out" / "idf.json").exists()


def test_the_table_answers_queries_as_sentence_transformers(make, routed, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    make(routed, tmp_path / "out")
    table = read(tmp_path / "out" / "idf.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    encoder = sentence_transformers.SparseEncoder(str(routed), device="cpu")
    for text in TEXTS[:2] + task_fixtures.ODD[2:]:
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        expected = dict(encoder.decode(encoder.encode_query(text)))
        assert {token: table[token] for token in tokens if token in table} == pytest.approx(expected, rel=1e-6)


def test_a_router_that_sentence_transformers_saved_is_read(make, model, tmp_path):
    """The encoder is in a folder then, and the directory has no config.json."""
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import Router, SparseStaticEmbedding, SpladePooling, Transformer

    encoder = Transformer(str(model), transformer_task="fill-mask", max_seq_length=LONGEST - 8)
    weight = task_models.weights_of_queries(len(encoder.tokenizer))
    router = Router.for_query_document(
        query_modules=[SparseStaticEmbedding(tokenizer=encoder.tokenizer, weight=weight)],
        document_modules=[encoder, SpladePooling("max")],
    )
    original = SparseEncoder(modules=[router], device="cpu")
    original.save_pretrained(str(tmp_path / "saved"))
    assert not (tmp_path / "saved" / "config.json").exists()
    description = make(tmp_path / "saved", tmp_path / "out", "--name", "model.tar.gz")
    assert (description["task"], description["provenance"]["model"]) == ("sparse-embeddings", "saved")
    assert (tmp_path / "out" / "tokenizer_config.json").exists()
    expected = original.encode_document(TEXTS, convert_to_sparse_tensor=False)
    torch.testing.assert_close(weights(tmp_path / "out", TEXTS), expected, atol=1e-4, rtol=0)
    assert read(tmp_path / "out" / "idf.json") == pytest.approx(table_of(tmp_path / "saved", tmp_path / "out"))


def test_a_table_beside_the_model_is_taken(make, model, tmp_path, capsys):
    (model / "query_token_weights.txt").write_text("the\t0.5\nlamp\t7.25\na\t0\nnot a word\t1\n", encoding="utf-8")
    make(model, tmp_path / "out")
    printed = capsys.readouterr()
    assert "queries: query_token_weights.txt has weights of 2 tokens" in printed.out
    assert "query_token_weights.txt: 1 tokens are not in the vocabulary, such as 'not a word'" in printed.err
    assert read(tmp_path / "out" / "idf.json") == {"the": 0.5, "lamp": 7.25}
    write(model, "idf.json", {"the": 0.25, "lamp": 0})
    make(model, tmp_path / "out")
    assert read(tmp_path / "out" / "idf.json") == {"the": 0.25}


def test_a_table_that_a_module_names_is_taken(make, routed, tmp_path):
    write(routed, f"{STATIC}/config.json", {"path": "idf.json", "frozen": True})
    write(routed, "idf.json", {"the": 0.25})
    make(routed, tmp_path / "out")
    assert read(tmp_path / "out" / "idf.json") == {"the": 0.25}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"the": "much"}, "idf.json: the: found 'much', expected a number"),
        ({"the": True}, "idf.json: the: found True, expected a number"),
        ({"the": float("nan")}, "idf.json: the: found nan, expected a number"),
        ({"the": 0}, "idf.json: found no token with a weight"),
        ([1], "idf.json: found '[1]', expected an object of tokens and weights"),
    ],
)
def test_tables_that_can_not_be_read_are_refused(refusal, model, table, message):
    write(model, "idf.json", table)
    assert message in refusal(model)


def test_a_table_of_another_tokenizer_is_refused(refusal, routed):
    stored = read(routed / STATIC / "tokenizer.json")
    stored["normalizer"] = {"type": "NFC"}
    write(routed, f"{STATIC}/tokenizer.json", stored)
    assert f"{STATIC}: its tokenizer cuts 'Where was Marie Curie born?' otherwise" in refusal(routed)


ENCODER = {"type": "a.MLMTransformer", "path": ""}
BEHIND = {"type": "a.SpladePooling", "path": "1_SpladePooling"}


@pytest.mark.parametrize(
    ("file", "value", "message"),
    [
        ("modules.json", [BEHIND], "modules.json: found SpladePooling, expected a Transformer or an MLMTransformer"),
        ("modules.json", [ENCODER, BEHIND, {"type": "a.SparseAutoEncoder", "path": ""}], "SparseAutoEncoder, expected a"),
        ("modules.json", [{"type": "a.Transformer", "path": ""}, BEHIND], "transformer_task: found nothing, expected"),
        ("modules.json", [ENCODER, BEHIND | {"path": "9"}], "9/config.json: not found, and modules.json names it"),
        ("1_SpladePooling/config.json", {"pooling_strategy": "mean"}, "pooling_strategy: found 'mean', expected one of max"),
        ("1_SpladePooling/config.json", {"activation_function": "gelu"}, "activation_function: found 'gelu', expected one"),
        ("sentence_bert_config.json", {"transformer_task": "feature-extraction"}, 'expected "fill-mask"'),
        (SETTINGS, {"model_type": "SentenceTransformer"}, 'found "SentenceTransformer", expected "SparseEncoder"'),
        (SETTINGS, {"default_prompt_name": "a"}, "default_prompt_name: found 'a', expected"),
    ],
)
def test_values_that_would_give_other_weights_are_refused(refusal, model, file, value, message):
    write(model, file, value)
    assert message in refusal(model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"structure": {"document": ["", "document_1_SpladePooling"]}}, "structure: found document, expected document and"),
        ({"structure": {"document": [""], "query": [STATIC]}}, "structure: document: found MLMTransformer, expected a"),
        ({"structure": {"document": ["", "document_1_SpladePooling"], "query": [""]}}, "structure: query: found MLMTransformer"),
        ({"parameters": {"route_mappings": {"('query', None)": "document"}}}, "route_mappings: found {"),
    ],
)
def test_routes_that_are_not_known_are_refused(refusal, routed, changes, message):
    write(routed, "router_config.json", read(routed / "router_config.json") | changes)
    assert f"router_config.json: {message}" in refusal(routed)


def test_modules_without_pooling_of_logits_are_refused_where_the_task_is_asked_for(refusal, tmp_path):
    dense = task_models.save("sentence-embeddings", "bert", tmp_path / "model")
    shutil.copytree(task_models.save("fill-mask", "bert", tmp_path / "mask"), dense, dirs_exist_ok=True)
    found = refusal(dense, "--task", "sparse-embeddings")
    assert "modules.json: found Transformer, Pooling, Normalize, expected a Transformer or an MLMTransformer" in found


def test_other_keys_are_named(make, routed, tmp_path, capsys):
    write(routed, "router_config.json", read(routed / "router_config.json") | {"parameters": {"default_route": "query"}})
    write(routed, SETTINGS, {"max_active_dims": 3, "prompts": {"query": "the "}, "default_prompt_name": "query"})
    assert make(routed, tmp_path / "out")["parameters"] == {"prompt": "the "}
    warnings = capsys.readouterr().err
    assert 'router_config.json: default_route: found "query", but a text is a document' in warnings
    assert f"warning: {SETTINGS}: max_active_dims: found 3, which is passed over" in warnings


def test_the_encoder_of_a_model_of_the_hub_is_downloaded_with_its_folder(monkeypatch):
    monkeypatch.setattr(splade.huggingface_hub, "snapshot_download", lambda model, allow_patterns: f"/{model}/{allow_patterns}")
    assert splade.directory("an/id", "") == "an/id"
    assert splade.directory("an/id", "document_0") == "/an/id/document_0/*/document_0"

    def fails(*_, **__):
        raise OSError("no network\nmore")

    monkeypatch.setattr(splade.huggingface_hub, "snapshot_download", fails)
    with pytest.raises(Refused, match="--model an/id: document_0 can't be downloaded: no network$"):
        splade.directory("an/id", "document_0")
