"""Makes the artifact of a tiny Japanese BERT with words of MeCab, its answers and its tokens, for the Java tests.

    python trace/japanese_bert_artifact.py --output src/test/resources

It needs MeCab, by fugashi or its own program. The dictionary is that of the tests, src/test/resources/mecab/tiny; it is
left out of the output, and the tests put it back. Its weights are random, so its answers are arbitrary; but they are
decided ones, and the same everywhere. `test_japanese.py` compares the tokens with those of transformers.
"""

import argparse
import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import transformers

import japanese_dictionary
import trace as tracer
from japanese_artifact import CORPUS
from japanese_words import DIRECTORY, load_tokenizer
from reference import Reference, read_lines, write_answers

ROOT = Path(__file__).resolve().parent.parent
DICTIONARY = ROOT / "src" / "test" / "resources" / "mecab" / "tiny"
QUESTIONS = ROOT / "trace" / "japanese-questions.jsonl"
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LONGEST = 128
# Of 150, the one whose answers to the questions are the most decided.
SEED = 70

# Normalisation that changes lengths, white space, special tokens, what is no word, what is too long for one.
ODD = [
    " ",
    "゛￣ ¨´ ㍿①ﾎﾟﾁ ガ か\u3099 e\u0301",
    "a\u2028b\x1cc\x85d\u00a0e\u3000f\tg\nh",
    "[MASK]は[SEP] ［ＳＥＰ］ [mask]",
    "龘😀👩‍👩‍👧𠮷" + "x" * 120,
]


def vocabulary() -> list[str]:
    """The words of the dictionary, the characters of the corpus, and those again as what follows another one."""
    words = [word for words in japanese_dictionary.WORDS.values() for word in words.split()]
    characters = list(dict.fromkeys("".join(CORPUS)))
    return SPECIAL_TOKENS + list(dict.fromkeys(words + characters + [f"##{character}" for character in characters]))


def save_model(directory: Path, seed: int = SEED) -> Path:
    """The model in the layout of cl-tohoku/bert-base-japanese-whole-word-masking."""
    torch.manual_seed(seed)
    tokens = vocabulary()
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LONGEST,
        pad_token_id=SPECIAL_TOKENS.index("[PAD]"),
        initializer_range=0.5,
        tokenizer_class="BertJapaneseTokenizer",
    )
    model = transformers.BertForQuestionAnswering(config)
    torch.nn.init.normal_(model.qa_outputs.weight, std=2.0)
    model.save_pretrained(directory)
    (directory / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")
    settings = (
        '{"do_lower_case": false, "word_tokenizer_type": "mecab", "subword_tokenizer_type": "wordpiece", '
        '"mecab_kwargs": {"mecab_dic": "ipadic"}}\n'
    )
    (directory / "tokenizer_config.json").write_text(settings, encoding="utf-8")
    return directory


def make(model: Path, output: Path) -> Path:
    options = ["--precision", "fp32", "--mecab-dictionary", str(DICTIONARY)]
    sys.argv[1:] = ["--model", str(model), "--output", str(output), *options]
    tracer.main()
    return output


def write_tokens(artifact: Path, output: Path) -> None:
    """The tokens of every tenth of the sentences, where they stand, and to which word they belong."""
    tokenizer = load_tokenizer(artifact / "tokenizer.json")
    sentences = gzip.decompress((DICTIONARY.parent / "sentences.txt.gz").read_bytes()).decode().split("\n")[:-1]
    with output.open("w", encoding="utf-8") as file:
        for text in sentences[::10] + ODD:
            found = tokenizer.encode(text, add_special_tokens=False)
            starts, ends = ([place[side] for place in found.offsets] for side in (0, 1))
            line = {"text": text, "ids": found.ids, "starts": starts, "ends": ends, "words": found.word_ids}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the Japanese BERT of the Java tests.")
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as directory:
        artifact = make(save_model(Path(directory) / "tiny-japanese-bert"), Path(directory) / "artifact")
        torch.set_num_threads(1)
        write_answers(Reference(artifact), read_lines(QUESTIONS), output / "reference" / "japanese-bert.jsonl")
        write_tokens(artifact, output / "reference" / "japanese-bert-tokens.jsonl")
        shutil.rmtree(artifact / DIRECTORY)
        shutil.copytree(artifact, output / "artifacts" / "japanese-bert", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
