/// A picture.
///
/// @param image the bytes of a PNG or JPEG
/// @param seed what it was drawn from
record Drawing(byte[] image, long seed, Format format) {}
