package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import javax.imageio.stream.ImageInputStream;
import org.junit.jupiter.api.Test;

/// Plugins for ImageIO among a hook's own jars, or those of the machine.
class JdkDecoderTest {

    private static final Path PNG = Path.of("src/test/resources/images/rgb.png");

    @Test
    void pluginsOfOthersAreNotUsed() throws Exception {
        var plugin = new GreedyPlugin();
        var registry = IIORegistry.getDefaultInstance();
        var others = new ArrayList<ImageReaderSpi>();
        registry.getServiceProviders(ImageReaderSpi.class, true).forEachRemaining(others::add);
        registry.registerServiceProvider(plugin, ImageReaderSpi.class);
        try {
            others.forEach(other -> registry.setOrdering(ImageReaderSpi.class, plugin, other));
            assertThatThrownBy(() -> ImageIO.read(PNG.toFile())).hasMessage("the wrong decoder");
            assertThat(new JdkDecoder("png").rgb(Files.readAllBytes(PNG)).rgb())
                    .isEqualTo(Files.readAllBytes(Path.of(PNG + ".rgb")));
        } finally {
            registry.deregisterServiceProvider(plugin, ImageReaderSpi.class);
        }
    }

    /// Says that it reads PNG, and that it should come first.
    private static final class GreedyPlugin extends ImageReaderSpi {

        @Override
        public String[] getFormatNames() {
            return new String[] {"png"};
        }

        @Override
        public boolean canDecodeInput(Object source) {
            return source instanceof ImageInputStream;
        }

        @Override
        public ImageReader createReaderInstance(Object extension) {
            throw new IllegalStateException("the wrong decoder");
        }

        @Override
        public String getDescription(Locale locale) {
            return "a plugin of somebody else";
        }
    }
}
