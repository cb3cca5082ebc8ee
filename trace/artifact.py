"""The artifact on disk: what model.json says, how the files are written, and how they are packed."""

import gzip
import json
import os
import shutil
import tarfile
from pathlib import Path

import japanese_words
import splade
from progress import each, warn
from refused import Refused

FORMAT = 1
MODEL_JSON = "model.json"
# Hugging Face's, where the model has them.
TOKENIZER_SETTINGS = ["tokenizer_config.json", "special_tokens_map.json"]
# What some artifacts have beside what `DESCRIBED` names.
MORE = [*TOKENIZER_SETTINGS, splade.TABLE]
DESCRIBED = [MODEL_JSON, "tokenizer.json", "sample.json", "sample.png", "sample-response.json"]
CODE = "code"
DICTIONARY = japanese_words.DIRECTORY


def write(
    directory: Path,
    description: dict,
    tokenizer: dict | None,
    models: dict[str, bytes | Path],
    sample: dict | bytes,
    answer: dict | list | None,
) -> None:
    """Writes all files, or none. `model.json` is put there last: where it is, the rest is too.

    Of `models` each is its content, or a file to copy. A model that takes pictures has no `tokenizer`, and its sample is a
    PNG. Without an `answer` there is no sample-response.json.
    """
    unfinished = directory / ".unfinished"
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        for name, content in models.items():
            (unfinished / name).parent.mkdir(exist_ok=True)
            if isinstance(content, Path):
                shutil.copyfile(content, unfinished / name)
            else:
                (unfinished / name).write_bytes(content)
        if tokenizer is not None:
            write_json(unfinished / "tokenizer.json", tokenizer, indent=None)
        if isinstance(sample, bytes):
            (unfinished / "sample.png").write_bytes(sample)
        else:
            write_json(unfinished / "sample.json", sample, indent=2)
        if answer is not None:
            write_json(unfinished / "sample-response.json", answer, indent=2)
        write_json(unfinished / MODEL_JSON, description, indent=2)

        # An archive of what was here before would be taken for one of what is here now.
        stale_names = [*DESCRIBED, *MORE]
        archives = [*directory.glob("*.tar.gz"), *directory.glob("*.tgz")]
        for stale in [*(directory / name for name in stale_names), *archives]:
            stale.unlink(missing_ok=True)
        shutil.rmtree(directory / DICTIONARY, ignore_errors=True)
        for other in sorted({"model.pt", "model.onnx"} - models.keys()):
            if (directory / other).exists():
                warn(f"{directory / other} was there before and stays; the server runs {', '.join(models)}")
        for name in [*models, *reversed(DESCRIBED)]:
            if not (unfinished / name).exists():
                continue
            (directory / name).parent.mkdir(exist_ok=True)
            os.replace(unfinished / name, directory / name)
    except OSError as error:
        raise Refused(f"--output {directory}: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_json(path: Path, value: dict, indent: int | None) -> None:
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    path.write_text(text + "\n", encoding="utf-8")


def check_directory(directory: Path) -> None:
    """Refuses early what `write` could not write to."""
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise Refused(f"--output {directory}: {existing} is no directory that can be written to")


def check_archive_name(name: str) -> None:
    if Path(name).name != name or not name.endswith((".tar.gz", ".tgz")):
        raise Refused(f"--name {name}: expected a file name such as model.tar.gz; it is written into --output")


def pack(directory: Path, archive: str) -> Path:
    """Packs what `model.json` names, MeCab's dictionary, and the user's `code/`.

    The same files make the same archive, byte by byte.
    """
    description = json.loads((directory / MODEL_JSON).read_text(encoding="utf-8"))
    described = [name for name in DESCRIBED + MORE if (directory / name).exists()]
    names = described + [file["path"] for file in description["files"]] + files_below(directory, CODE, DICTIONARY)
    total = sum((directory / name).stat().st_size for name in names)
    unfinished = directory / f"{archive}.unfinished"
    try:
        with (
            unfinished.open("wb") as file,
            each(None, "pack", total=total, unit="B", unit_scale=True) as bar,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed,
            tarfile.open(fileobj=compressed, mode="w", dereference=True) as tar,
        ):
            for name in sorted(names):
                with (directory / name).open("rb") as content:
                    tar.addfile(without_owner_and_time(tar.gettarinfo(directory / name, arcname=name)), content)
                bar.update((directory / name).stat().st_size)
        os.replace(unfinished, directory / archive)
    except OSError as error:
        raise Refused(f"--name {archive}: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return directory / archive


def without_owner_and_time(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def files_below(directory: Path, *names: str) -> list[str]:
    files = [path for name in names for path in (directory / name).rglob("*") if path.is_file()]
    return [path.relative_to(directory).as_posix() for path in files if "__pycache__" not in path.parts]
