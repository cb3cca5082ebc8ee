"""Makes the tiny MeCab dictionary of the tests, and records how MeCab cuts sentences with it and with others.

    python trace/japanese_dictionary.py --output src/test/resources/mecab/tiny
    python trace/japanese_dictionary.py --record src/test/resources/mecab/sentences.txt.gz \\
        --dictionary src/test/resources/mecab/tiny --output src/test/resources/mecab/words-tiny.txt.gz

It needs MeCab and its mecab-dict-index, as Debian's mecab-utils has it. The words are written here, so that no dictionary
is copied; most words of the sentences are unknown to it.
"""

import argparse
import gzip
import subprocess
import tempfile
import unicodedata
from pathlib import Path

from japanese_words import FILES, cutter

COMPILER = "/usr/lib/mecab/mecab-dict-index"

# Ids of both sides: 0 is the begin and the end of a text.
KINDS = ["BOS", "noun", "particle", "verb", "ending", "symbol", "number", "unknown"]

WORDS = {
    "noun": """
        東京 京都 日本 首都 都 人口 人 山 富士山 富士 高さ 本 本屋 屋 店 値段 円 犬 猫 名前 灯台 岬 北 油 明かり 電気
        屋根裏 屋根 手紙 パン パン屋 妹 ワルシャワ パリ ラジウム ポロニウム マリー キュリー マリー・キュリー トマシュ
        川 海 春 水 雪 雪どけ 博物館 漁船 船 月曜日 月曜 日 休み 祖母 朝 毎朝 時 六 六時 庭 花 橋 新しい橋 来年 年 工事
        会議 午後 階 部屋 資料 机 上 株式 会社 株式会社 大阪 社長 図書館 図書 夜 今 今日 昨日 明日 誰 何 どこ いつ ひとり
        駅 駅前 前 寺 神社 千 千年 年以上 以上 あいだ もの こと ため 設定 機能 システム ファイル パッケージ ユーザ サーバ
    """,
    "particle": "は が を に へ と で の も や から まで より か ので のに では とは って",
    "verb": """
        生まれ 建て 建てられ 燃やし 燃やさ 動い 動き 見つかっ 書い 書き 買い 買っ 発見し 発見 流れ 流れて 深く なり なっ
        開い 開か 借り 借りられ 起き やり あり ある い いる し する され 使い 使わ 使っ 行い 行わ でき
    """,
    "ending": "ます ました まし た て です でした ません ん れ られ ない たい う よう だ な",
    "symbol": "。 、 ？ ！ ? ! ・ 「 」 ( ) . , - / ー 〜",
    "number": "0 1 2 3 4 5 6 7 8 9 一 二 三 四 五",
}

# What follows what is cheap; all else costs 900.
PAIRS = {
    ("noun", "particle"): -600, ("particle", "noun"): -300, ("particle", "verb"): -400, ("verb", "ending"): -800,
    ("ending", "ending"): -500, ("ending", "symbol"): -700, ("symbol", "BOS"): -900, ("noun", "noun"): 250,
    ("number", "number"): -900, ("number", "noun"): -350, ("unknown", "particle"): -450, ("particle", "unknown"): -150,
    ("BOS", "noun"): -300, ("noun", "symbol"): 0, ("symbol", "noun"): -50, ("unknown", "unknown"): 500,
}  # fmt: skip

CATEGORIES = """
DEFAULT 0 1 0
SPACE 0 1 0
KANJI 0 0 2
KANJINUMERIC 1 1 0
SYMBOL 1 1 0
NUMERIC 1 1 0
ALPHA 1 1 0
HIRAGANA 0 1 2
KATAKANA 1 1 3
0x0020 SPACE
0x0009..0x000D SPACE
0x0021..0x002F SYMBOL
0x0030..0x0039 NUMERIC
0x003A..0x0040 SYMBOL
0x0041..0x005A ALPHA
0x005B..0x0060 SYMBOL
0x0061..0x007A ALPHA
0x007B..0x007E SYMBOL
0x00C0..0x024F ALPHA
0x2010..0x2027 SYMBOL
0x2190..0x26FF SYMBOL
0x3001..0x3003 SYMBOL
0x3005 KANJI
0x3008..0x301F SYMBOL
0x3041..0x309F HIRAGANA
0x30A0..0x30FF KATAKANA
0x30FC KATAKANA HIRAGANA
0x4E00..0x9FFF KANJI
0x4E00 KANJINUMERIC KANJI
0x4E8C KANJINUMERIC KANJI
0x4E09 KANJINUMERIC KANJI
0x5343 KANJINUMERIC KANJI
0x767E KANJINUMERIC KANJI
"""

UNKNOWN = {
    "DEFAULT": [2200], "SPACE": [3000], "KANJI": [1900, 2400], "KANJINUMERIC": [1500], "SYMBOL": [1200],
    "NUMERIC": [900], "ALPHA": [1000], "HIRAGANA": [2600], "KATAKANA": [1400, 1600],
}  # fmt: skip


def sources() -> dict[str, str]:
    """The texts that mecab-dict-index compiles. Longer words are cheaper; some are there twice, as two kinds."""
    entries = [
        (word, kind, 1500 - 250 * len(word) + 13 * number)
        for kind, words in WORDS.items()
        for number, word in enumerate(words.split())
    ]
    costs = [
        f"{left} {right} {PAIRS.get((KINDS[left], KINDS[right]), 900)}"
        for left in range(len(KINDS))
        for right in range(len(KINDS))
    ]
    return {
        "words.csv": "".join(f"{quoted(word)},{side(kind)},{cost},{kind}\n" for word, kind, cost in entries),
        "unk.def": "".join(
            f"{category},{side('unknown')},{cost},unknown\n" for category, costs in UNKNOWN.items() for cost in costs
        ),
        "char.def": CATEGORIES,
        "matrix.def": "\n".join([f"{len(KINDS)} {len(KINDS)}", *costs]) + "\n",
        "dicrc": "cost-factor = 800\nbos-feature = BOS\neval-size = 1\nunk-eval-size = 1\nconfig-charset = UTF-8\n",
    }


def side(kind: str) -> str:
    return f"{KINDS.index(kind)},{KINDS.index(kind)}"


def quoted(word: str) -> str:
    return f'"{word}"' if "," in word else word


def compile_dictionary(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for name, text in sources().items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        command = [COMPILER, "-d", directory, "-o", directory, "-f", "utf-8", "-t", "utf-8"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name in FILES:
            (output / name).write_bytes((Path(directory) / name).read_bytes())


def record(sentences: Path, dictionary: Path, output: Path) -> None:
    """A line for each sentence: the words, with tabs between them; packed with gzip. MeCab is given NFKC."""
    cut = cutter(dictionary)
    lines = gzip.decompress(sentences.read_bytes()).decode().split("\n")[:-1]
    words = ("\t".join(cut(unicodedata.normalize("NFKC", line))) for line in lines)
    output.write_bytes(gzip.compress("".join(f"{line}\n" for line in words).encode()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make MeCab's part of the tests.")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--record", type=Path, help="sentences to cut, one a line; packed with gzip")
    parser.add_argument("--dictionary", type=Path, help="the dictionary to cut them with")
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.record, arguments.dictionary, arguments.output)
    else:
        compile_dictionary(arguments.output)


if __name__ == "__main__":
    main()
