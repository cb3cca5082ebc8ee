"""Prints digests of pictures that this Pillow has resized by all filters, for ImageTest.

    pip install pillow==13.0.0
    python src/test/resources/images/resized.py > src/test/resources/images/resized-13.0.0.txt
"""

import hashlib

from PIL import Image

SIZES = [(7, 200), (33, 47), (200, 7), (47, 33), (17, 23), (64, 64), (99, 151), (130, 511), (511, 130), (1, 50), (160, 213)]
TARGETS = [(32, 32), (64, 64), (8, 8), (96, 128), (100, 3), (3, 100), (17, 23)]
FILTERS = [getattr(Image.Resampling, name) for name in ("NEAREST", "BOX", "BILINEAR", "HAMMING", "BICUBIC", "LANCZOS")]


def picture(width: int, height: int, mode: str) -> Image.Image:
    """Numbers without a pattern, the same in Java."""
    values, state = bytearray(), 1
    for _ in range(width * height * len(mode)):
        state = (state * 48271) % 0x7FFFFFFF
        values.append(state >> 8 & 0xFF)
    return Image.frombytes(mode, (width, height), bytes(values))


for size in SIZES:
    for mode in ("RGB", "L"):
        original = picture(*size, mode)
        for target in TARGETS:
            digest = hashlib.sha256()
            for filter in FILTERS:
                digest.update(original.resize(target, filter).tobytes())
            print(*size, mode, *target, digest.hexdigest()[:16])
