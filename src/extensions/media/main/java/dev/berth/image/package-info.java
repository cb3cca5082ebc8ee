/// Pictures for hooks: from the bytes of a JPEG, PNG, GIF, BMP or WebP to the tensor that a model
/// takes.
///
/// [dev.berth.image.Image] is all that hooks see. The formats' headers are read here, so that sizes
/// are known before anything is decoded; the pixels are decoded by the JDK, and by libwebp.
/// Everything may be used by any threads, and pictures are immutable; large ones wait for each
/// other while they are decoded.
package dev.berth.image;
