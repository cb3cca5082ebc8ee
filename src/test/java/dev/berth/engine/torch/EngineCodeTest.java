package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// Real libtorch, and what Linux says of its memory.
@EnabledOnOs(OS.LINUX)
class EngineCodeTest {

  private static final Pattern CODE = Pattern.compile(
      "(?m)^\\w+-\\w+ r-xp .*/libtorch_cpu\\.so\\n(?:[A-Z].*\\n)*?Rss: +(\\d+) kB$");

  @Test
  void whatHasRunLeavesMemoryAndRunsAgain() throws IOException {
    var cpu = new Accelerator.Cpu(2, CpuProfile.ADAPTIVE);
    try (var model = TorchModel.load(Path.of("src/test/resources/torchscript/echo.pt"), cpu)) {
      var input = Tensor.of(new long[] {1, 2, 3, 4, 5, 6}, 2, 3);
      var inputs = List.of(input, input, input);
      var before = model.forward(inputs);
      int resident = residentKilobytes();
      EngineCode.release();
      assertThat(residentKilobytes()).isLessThan(resident / 2);
      assertThat(model.forward(inputs)).isEqualTo(before);
    }
  }

  private static int residentKilobytes() throws IOException {
    var mapping = CODE.matcher(Files.readString(Path.of("/proc/self/smaps")));
    assertThat(mapping.find()).isTrue();
    return Integer.parseInt(mapping.group(1));
  }
}
