"""Makes the pictures that ImageTest reads, and beside each the pixels that Pillow makes of it.

    pip install pillow==12.3.0
    python src/test/resources/images/make_images.py

`NAME.rgb` holds red, green and blue of `NAME`, row by row, as `ImageOps.exif_transpose(...).convert("RGB")` gives them;
`rgb.png.grey` the brightness. `resized.py` beside this makes what becomes of them in other sizes.
"""

import io
import random
import struct
import zlib
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

HERE = Path(__file__).resolve().parent
SIZE = (13, 11)
ORIENTATION = 0x0112


def picture(size: tuple[int, int], seed: int = 1) -> Image.Image:
    """Colours that run into each other, edges, and some noise."""
    chance = random.Random(seed)
    small = Image.new("RGB", (4, 3))
    small.putdata([tuple(chance.randrange(256) for _ in range(3)) for _ in range(12)])
    image = small.resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    draw.rectangle((2, 2, size[0] // 3, size[1] // 2), fill=(250, 20, 30))
    draw.line((0, size[1] - 1, size[0] - 1, 0), fill=(255, 255, 255))
    pixels = image.get_flattened_data()
    image.putdata([tuple(min(255, max(0, value + chance.randrange(-9, 10))) for value in pixel) for pixel in pixels])
    return image


def with_alpha(image: Image.Image) -> Image.Image:
    """Clear at the left, solid at the right."""
    alpha = Image.linear_gradient("L").rotate(90).resize(image.size)
    return Image.merge("RGBA", (*image.convert("RGB").split(), alpha))


def saved(image: Image.Image, kind: str, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = "a maker"
    exif[ORIENTATION] = orientation
    return exif


def png(size: tuple[int, int], depth: int, colour: int, rows: list[bytes], interlaced: bool = False) -> bytes:
    """A PNG of a kind that Pillow does not write."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, int(interlaced)))
        + chunk(b"gAMA", struct.pack(">I", 100000))
        + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows)))
        + chunk(b"IEND", b"")
    )


def interlaced_png(image: Image.Image) -> bytes:
    """Adam7: seven passes, each with the pixels from (x, y) in steps."""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    width, height = image.size
    rows = []
    for left, top, across, down in passes:
        for y in range(top, height, down):
            row = b"".join(bytes(image.getpixel((x, y))) for x in range(left, width, across))
            if row:
                rows.append(row)
    return png(image.size, 8, 2, rows, interlaced=True)


def rows_of(values: list, width: int) -> list[list]:
    return [values[i : i + width] for i in range(0, len(values), width)]


def bmp(size: tuple[int, int], bits: int, compression: int, between: bytes, data: bytes) -> bytes:
    """A BMP of a kind that Pillow does not write. `between` are the palette or the masks."""
    offset = 14 + 40 + len(between)
    return (
        b"BM"
        + struct.pack("<IHHI", offset + len(data), 0, 0, offset)
        + struct.pack("<IiiHHIIiiII", 40, *size, 1, bits, compression, len(data), 0, 0, 0, 0)
        + between
        + data
    )


def short_pixels_bmp(image: Image.Image) -> bytes:
    """5 bits of red, 6 of green, 5 of blue."""
    data = b""
    for row in reversed(rows_of(list(image.get_flattened_data()), image.width)):
        line = b"".join(struct.pack("<H", r >> 3 << 11 | g >> 2 << 5 | b >> 3) for r, g, b in row)
        data += line + bytes(-len(line) % 4)
    return bmp(image.size, 16, 3, struct.pack("<III", 0xF800, 0x07E0, 0x001F), data)


def run_length_bmp(image: Image.Image) -> bytes:
    """Each row a run of three pixels and the rest one by one."""
    indexed = image.quantize(16)
    colours = indexed.getpalette()[: 16 * 3]
    palette = b"".join(bytes((b, g, r, 0)) for r, g, b in rows_of(colours, 3))
    data = b""
    for row in reversed(rows_of(list(indexed.get_flattened_data()), image.width)):
        rest = bytes(row[3:])
        data += bytes((3, row[0], 0, len(rest))) + rest + bytes(len(rest) % 2) + b"\0\0"
    return bmp(image.size, 8, 1, palette, data + b"\0\1")


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def gif_on_larger_screen(image: Image.Image) -> bytes:
    """The picture at (3, 2) of a screen of 20 x 15, with a transparent colour that fills the rest."""
    data = saved(image.quantize(8), "GIF", transparency=5, interlace=0)
    data = patched(data, 6, struct.pack("<HH", 20, 15))
    at = data.index(b"\x2c" + struct.pack("<HHHH", 0, 0, *image.size))
    return patched(data, at + 1, struct.pack("<HH", 3, 2))


def animated_webp_on_larger_canvas(image: Image.Image) -> bytes:
    """Two frames, the first at (4, 2) of a canvas of 20 x 15."""
    data = saved(image, "WEBP", save_all=True, append_images=[ImageOps.invert(image)], lossless=True, duration=50)
    at = data.index(b"VP8X") + 12
    data = patched(data, at, struct.pack("<I", 19)[:3] + struct.pack("<I", 14)[:3])
    return patched(data, data.index(b"ANMF") + 8, struct.pack("<I", 2)[:3] + struct.pack("<I", 1)[:3])


def main() -> None:
    image = picture(SIZE)
    grey = image.convert("L")
    inks = Image.merge("CMYK", (*image.split(), grey))
    width, height = SIZE
    chance = random.Random(2)
    wide = [chance.randrange(65536) for _ in range(width * height * 3)]
    wide_rows = [struct.pack(f">{3 * width}H", *row) for row in rows_of(wide, 3 * width)]
    wide_grey_rows = [struct.pack(f">{width}H", *row) for row in rows_of(wide[: width * height], width)]
    print_jpeg = saved(inks, "JPEG", quality=90)

    files = {
        "baseline.jpg": saved(image, "JPEG", quality=90, subsampling=2),
        "full-chroma.jpg": saved(image, "JPEG", quality=90, subsampling=0, icc_profile=b"no profile at all"),
        "half-chroma.jpg": saved(image, "JPEG", quality=90, subsampling=1, restart_marker_blocks=1),
        "progressive.jpg": saved(image, "JPEG", quality=90, progressive=True, comment=b"\xff\xd9"),
        "grey.jpg": saved(grey, "JPEG", quality=90),
        "rgb.jpg": saved(image, "JPEG", quality=90, keep_rgb=True),
        "cmyk.jpg": print_jpeg,
        # The last byte of the Adobe segment says what the inks are; none of the other bytes does.
        "ycck.jpg": patched(print_jpeg, print_jpeg.index(b"Adobe") + 11, b"\2"),
        "grey.png": saved(grey, "PNG"),
        "grey-1-bit.png": saved(image.convert("1"), "PNG"),
        "grey-2-bits.png": png((8, 2), 2, 0, [b"\x1b\xe4", b"\xb1\x4e"]),
        "grey-16-bits.png": png(SIZE, 16, 0, wide_grey_rows),
        "grey-alpha.png": saved(with_alpha(image).convert("LA"), "PNG"),
        "palette.png": saved(image.quantize(30), "PNG"),
        "palette-2-bits.png": saved(image.quantize(4), "PNG", bits=2),
        "palette-transparent.png": saved(image.quantize(30), "PNG", transparency=3),
        "rgb.png": saved(image, "PNG", icc_profile=b"no profile at all"),
        "rgb-transparent.png": saved(image, "PNG", transparency=image.getpixel((3, 3))),
        "rgb-16-bits.png": png(SIZE, 16, 2, wide_rows),
        "rgb-interlaced.png": interlaced_png(image),
        "rgba.png": saved(with_alpha(image), "PNG"),
        "photo.png": saved(picture((29, 23), seed=3), "PNG"),
        "still.gif": saved(image, "GIF"),
        "interlaced.gif": saved(picture((16, 16)), "GIF", interlace=1),
        "animated.gif": saved(image, "GIF", save_all=True, append_images=[ImageOps.invert(image)]),
        "larger-screen.gif": gif_on_larger_screen(image),
        "rgb.bmp": saved(image, "BMP"),
        "rgba.bmp": saved(with_alpha(image), "BMP"),
        "grey.bmp": saved(grey, "BMP"),
        "palette.bmp": saved(image.quantize(30), "BMP"),
        "1-bit.bmp": saved(image.convert("1"), "BMP"),
        "16-bits.bmp": short_pixels_bmp(image),
        "run-lengths.bmp": run_length_bmp(image),
        "lossy.webp": saved(image, "WEBP", quality=60),
        "lossy-alpha.webp": saved(with_alpha(image), "WEBP", quality=60),
        "lossless.webp": saved(image, "WEBP", lossless=True, icc_profile=b"no profile at all"),
        "lossless-alpha.webp": saved(with_alpha(image), "WEBP", lossless=True, exact=True),
        "animated.webp": animated_webp_on_larger_canvas(image),
        "orientation-6.png": saved(image, "PNG", exif=oriented(6)),
        "orientation-6.webp": saved(image, "WEBP", lossless=True, exif=oriented(6)),
    }
    for orientation in range(1, 9):
        files[f"orientation-{orientation}.jpg"] = saved(image, "JPEG", quality=90, exif=oriented(orientation))

    for name, data in files.items():
        (HERE / name).write_bytes(data)
        expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        (HERE / f"{name}.rgb").write_bytes(expected.tobytes())
    # Pillow cuts what is above 255 here, which leaves most of a picture white.
    high_bytes = Image.new("L", SIZE)
    high_bytes.putdata([value >> 8 for value in wide[: width * height]])
    (HERE / "grey-16-bits.png.rgb").write_bytes(high_bytes.convert("RGB").tobytes())

    (HERE / "rgb.png.grey").write_bytes(image.convert("L").tobytes())


if __name__ == "__main__":
    main()
