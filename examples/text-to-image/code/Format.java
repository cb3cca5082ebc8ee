import dev.berth.hooks.MediaType;
import dev.berth.image.Image;

/// What a picture is written in.
enum Format {
    PNG("png"),
    JPEG("jpg");

    private static final int QUALITY = 90;

    private final String ending;

    Format(String ending) {
        this.ending = ending;
    }

    /// As a request has it.
    @Override
    public String toString() {
        return type().subtype();
    }

    MediaType type() {
        return MediaType.of("image", name());
    }

    /// Of a file.
    String ending() {
        return ending;
    }

    byte[] encode(Image image) {
        return switch (this) {
            case PNG -> image.png();
            case JPEG -> image.jpeg(QUALITY);
        };
    }
}
