package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import javax.imageio.stream.ImageInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Plugins for ImageIO among a hook's own jars, or those of the machine.
class JdkDecoderTest {

    private static final Path PNG = Path.of("src/test/resources/images/rgb.png");

    private final GreedyPlugin plugin = new GreedyPlugin();

    @BeforeEach
    void register() {
        var registry = IIORegistry.getDefaultInstance();
        var others = new ArrayList<ImageReaderSpi>();
        registry.getServiceProviders(ImageReaderSpi.class, true).forEachRemaining(others::add);
        registry.registerServiceProvider(plugin, ImageReaderSpi.class);
        others.forEach(other -> registry.setOrdering(ImageReaderSpi.class, plugin, other));
    }

    @AfterEach
    void deregister() {
        IIORegistry.getDefaultInstance().deregisterServiceProvider(plugin, ImageReaderSpi.class);
    }

    @Test
    void pluginsOfOthersAreNotUsed() throws Exception {
        assertThatThrownBy(() -> ImageIO.read(PNG.toFile())).hasMessage("the wrong decoder");
        var expected = Files.readAllBytes(Path.of(PNG + ".rgb"));
        var pixels = new JdkDecoder("png").rgb(Files.readAllBytes(PNG));
        assertThat(Tensor.ofUnsigned(pixels.rgb(), pixels.height(), pixels.width(), 3))
                .isEqualTo(Tensor.ofUnsigned(expected, 11, 13, 3));
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
