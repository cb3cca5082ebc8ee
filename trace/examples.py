"""Sentences to trace, to verify and to show a model with, in the languages that models here are made for."""

from dataclasses import dataclass

import tokenizers

import facts


@dataclass(frozen=True)
class Language:
    """Questions and contexts of different lengths, so that a batch of them needs padding, and one to show.

    `facts` are the questions that precisions are compared with. `separator` stands between two sentences.
    """

    examples: list[tuple[str, str]]
    sample: dict[str, str]
    facts: list[tuple[str, str]]
    separator: str


ENGLISH = Language(
    [
        ("Where was Marie Curie born?", "Marie Curie was born in Warsaw."),
        (
            "What does the lighthouse burn today?",
            "The lighthouse on the northern cape was built in 1871. Until 1923 its lamp burnt oil, which the keepers "
            "carried up two hundred steps every evening. Today it burns nothing: the lamp is electric and works by "
            "itself.",
        ),
        (
            "Who wrote the letter?",
            "The letter, found in an attic in 1998, was written by a baker called Tomasz to his sister.",
        ),
    ],
    {
        "question": "Where was Marie Curie born?",
        "context": "Marie Curie was born in Warsaw. She discovered radium and polonium in Paris.",
    },
    facts.ENGLISH,
    separator=" ",
)

JAPANESE = Language(
    [
        ("マリー・キュリーはどこで生まれましたか？", "マリー・キュリーはワルシャワで生まれました。"),
        (
            "灯台は今、何で動いていますか？",
            "北の岬の灯台は1871年に建てられました。1923年までは油を燃やしていて、灯台守が毎晩二百段の階段を上って運びました。"
            "今は何も燃やしません。明かりは電気で、ひとりで動いています。",
        ),
        ("誰が手紙を書きましたか？", "1998年に屋根裏で見つかった手紙は、トマシュというパン屋が妹に書いたものです。"),
    ],
    {
        "question": "マリー・キュリーはどこで生まれましたか？",
        "context": "マリー・キュリーはワルシャワで生まれました。パリでラジウムとポロニウムを発見しました。",
    },
    facts.JAPANESE,
    separator="",
)


def language_of(tokenizer: tokenizers.Tokenizer, unknown: int | None, prefers_japanese: bool) -> Language:
    """The language with the smaller share of unknown tokens; of equal ones the preferred."""

    def share_of_unknown(language: Language) -> float:
        texts = [text for example in language.examples for text in example]
        ids = [id for text in texts for id in tokenizer.encode(text, add_special_tokens=False).ids]
        # A tokenizer may also drop what it does not know.
        return ids.count(unknown) / len(ids) if ids else 1.0

    languages = [JAPANESE, ENGLISH] if prefers_japanese else [ENGLISH, JAPANESE]
    return min(languages, key=share_of_unknown)
