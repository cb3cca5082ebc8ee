"""Serves Japanese models that were traced here, and compares the server's answers with those of the reference.

They are a RoBERTa and a BERT with words of MeCab.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
import tokenizers
import torch
from tokenizers import models, trainers

import japanese_artifact
import japanese_bert_artifact
import tokenizer as tokenizing
from reference import Reference

SERVE = Path(__file__).resolve().parent.parent / "serve"
SECONDS_TO_BUILD_AND_START = 300

QUESTIONS = [
    ("東京はどこの首都ですか？", "東京は日本の首都です。人口はおよそ1400万人です。"),
    ("犬の名前は何ですか？", "🐶👩‍👩‍👧の犬の名前はポチです。猫の名前はタマです。"),
    ("本の値段はいくらでしたか？", "吉田さんは㍿山田の本を買いました。値段は１５００円、ﾎﾟﾁは無料でした。"),
    ("灯台は今、何で動いていますか？", "".join(japanese_artifact.CORPUS)),
]


@pytest.fixture(scope="module")
def java():
    """`serve` looks for a JDK, and builds the server; without a JDK there is nothing to test."""
    help = subprocess.run([SERVE, "--help"], capture_output=True, text=True, check=False)
    if "needs Java" in help.stderr:
        pytest.skip(help.stderr.splitlines()[0])
    assert help.returncode == 0, help.stderr


@pytest.fixture
def roberta(make, tmp_path):
    tokenizer = japanese_artifact.japanese_tokenizer(models.Unigram())
    special = japanese_artifact.SPECIAL_TOKENS
    trainer = trainers.UnigramTrainer(vocab_size=400, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(japanese_artifact.CORPUS, trainer)
    model = japanese_artifact.save_model(tokenizer, tmp_path / "tiny-japanese-roberta")
    description = make(model, tmp_path / "artifact")
    assert description["pair"]["before"] == []
    assert description["parameters"] == {"align_to_words": False}
    return tmp_path / "artifact"


@pytest.fixture
def bert(tmp_path):
    if shutil.which("mecab") is None and not tokenizing.is_installed("fugashi"):
        pytest.skip("needs MeCab: pip install fugashi, or apt-get install mecab")
    model = japanese_bert_artifact.save_model(tmp_path / "tiny-japanese-bert")
    return japanese_bert_artifact.make(model, tmp_path / "artifact")


@contextmanager
def served(artifact, tmp_path):
    """The address of a server that is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVE, "--model-dir", artifact, "--host", "127.0.0.1", "--port", str(port)]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=os.environ | {"INSTANCE_TYPE": "cpu"}, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_ready(server, address, tmp_path / "server.log")
        yield address
    finally:
        server.terminate()
        server.wait(30)


def wait_until_ready(server, address, log):
    deadline = time.monotonic() + SECONDS_TO_BUILD_AND_START
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text(encoding="utf-8")
        try:
            with urllib.request.urlopen(f"{address}/ping", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the server does not get ready: {log.read_text(encoding='utf-8')}")


def ask(address, question, context, **parameters):
    body = {"question": question, "context": context, **({"parameters": parameters} if parameters else {})}
    request = urllib.request.Request(
        f"{address}/invocations", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def assert_answers_as_the_reference(artifact, address):
    torch.set_num_threads(1)
    reference = Reference(artifact)
    for question, context in QUESTIONS:
        expected = reference.answer(question, context, {})
        found = ask(address, question, context)
        assert found["score"] == pytest.approx(expected["answers"][0]["score"], abs=1e-4)
        assert found["answer"] == context[found["start"] : found["end"]]
        # The tokenizer may be trained anew each time, so that two answers may happen to be as good as each other.
        if expected["margin"] > 1e-4:
            assert found == expected["answers"][0] | {"score": found["score"]}


def test_the_server_answers_japanese_as_the_reference(java, roberta, tmp_path):
    with served(roberta, tmp_path) as address:
        assert_answers_as_the_reference(roberta, address)
        words = ask(address, *QUESTIONS[0], align_to_words=True)
    assert words["answer"] == QUESTIONS[0][1]
    assert tokenizers.Tokenizer.from_file(str(roberta / "tokenizer.json")).get_vocab_size() < 400


def test_the_server_answers_a_bert_with_words_of_mecab_as_the_reference(java, bert, tmp_path):
    with served(bert, tmp_path) as address:
        assert_answers_as_the_reference(bert, address)
