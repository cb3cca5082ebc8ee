"""Makes the artifact of a tiny Japanese RoBERTa for the Java tests.

    python trace/japanese_artifact.py --output src/test/resources/artifacts/japanese-roberta
    python trace/reference.py --artifact src/test/resources/artifacts/japanese-roberta \\
        --questions trace/japanese-questions.jsonl --output src/test/resources/reference/japanese-roberta.jsonl

Its tokenizer is of the kind that Japanese RoBERTas have: Unigram, without a classification token. Its weights are
random, so its answers are arbitrary; but they are decided ones, and the same everywhere.
"""

import argparse
import math
import sys
import tempfile
from collections import Counter
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

import trace as tracer

SPECIAL_TOKENS = ["<unk>", "<s>", "</s>", "[PAD]"]
LONGEST = 128

CORPUS = """
東京は日本の首都です。人口はおよそ1400万人です。
京都は千年以上のあいだ日本の都でした。寺や神社がたくさんあります。
富士山は日本で一番高い山で、高さは3776メートルです。
吉田さんは昨日、駅前の本屋で新しい本を買いました。値段は1500円でした。
北の岬の灯台は1871年に建てられました。1923年までは油を燃やしていました。
今は何も燃やしません。明かりは電気で、ひとりで動いています。
屋根裏で見つかった手紙は、トマシュというパン屋が妹に書いたものです。
マリー・キュリーはワルシャワで生まれました。パリでラジウムとポロニウムを発見しました。
この川は山から海まで流れています。春には雪どけの水で深くなります。
博物館には古い漁船が展示されています。月曜日は休みです。
犬の名前はポチです。猫の名前はタマです。
祖母は毎朝六時に起きて、庭の花に水をやります。
新しい橋は来年の春に完成する予定です。工事には三年かかりました。
会議は午後三時から二階の部屋で開かれます。資料は机の上にあります。
株式会社山田は大阪にあります。社長は山田花子さんです。
図書館は夜の九時まで開いています。本は二週間借りられます。
誰が手紙を書きましたか？どこで生まれましたか？いつ建てられましたか？
東京はどこの首都ですか？富士山の高さは何メートルですか？本の値段はいくらでしたか？
灯台は今、何で動いていますか？犬の名前は何ですか？博物館はいつ休みですか？
""".split()


def japanese_tokenizer(model: models.Unigram) -> tokenizers.Tokenizer:
    """A pair is `question </s> context </s>`, as a T5 tokenizer writes it."""
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", SPECIAL_TOKENS.index("</s>"))]
    )
    return tokenizer


def counted_unigrams() -> models.Unigram:
    """The characters of the corpus and what is in it three times. The trainer's vocabulary is another each time."""
    counts = Counter()
    for sentence in CORPUS:
        text = "▁" + sentence
        counts.update(text[start : start + length] for length in range(1, 5) for start in range(len(text)))
    pieces = {piece: count for piece, count in counts.items() if len(piece) == 1 or count >= 3}
    total = sum(pieces.values())
    scores = {piece: round(math.log(count / total), 3) for piece, count in pieces.items()}
    vocabulary = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    return models.Unigram([(token, 0.0) for token in SPECIAL_TOKENS] + vocabulary, unk_id=SPECIAL_TOKENS.index("<unk>"))


def japanese_roberta(tokenizer: tokenizers.Tokenizer) -> transformers.RobertaForQuestionAnswering:
    """Random weights, large enough that one answer is clearly better than the others.

    Of 300 seeds, this one's answers to japanese-questions.jsonl and to the sample are the most decided.
    """
    torch.manual_seed(51)
    padding = SPECIAL_TOKENS.index("[PAD]")
    config = transformers.RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=LONGEST + padding + 1,
        type_vocab_size=1,
        pad_token_id=padding,
        bos_token_id=SPECIAL_TOKENS.index("<s>"),
        eos_token_id=SPECIAL_TOKENS.index("</s>"),
        initializer_range=0.5,
    )
    model = transformers.RobertaForQuestionAnswering(config)
    torch.nn.init.normal_(model.qa_outputs.weight, std=2.0)
    return model


def save_model(tokenizer: tokenizers.Tokenizer, directory: Path) -> Path:
    """The model and its tokenizer in the layout of Hugging Face."""
    japanese_roberta(tokenizer).save_pretrained(directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the Japanese artifact of the Java tests.")
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as directory:
        model = save_model(japanese_tokenizer(counted_unigrams()), Path(directory) / "tiny-japanese-roberta")
        sys.argv[1:] = ["--model", str(model), "--precision", "fp32", "--output", str(output)]
        tracer.main()


if __name__ == "__main__":
    main()
