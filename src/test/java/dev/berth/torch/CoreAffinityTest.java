package dev.berth.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class CoreAffinityTest {

  private static final String NAME = "affinity-test";

  @Test
  void threadsOfOneNameHaveACoreEachAndNoOthers() throws Exception {
    int cores = Runtime.getRuntime().availableProcessors();
    assumeTrue(cores > 1, "there is one core");
    var before = allowed();
    try (var one = Executors.newSingleThreadExecutor(Thread.ofPlatform().name(NAME).factory());
        var other = Executors.newSingleThreadExecutor(Thread.ofPlatform().name(NAME).factory())) {
      one.submit(() -> {}).get();
      other.submit(() -> {}).get();

      CoreAffinity.spread(NAME);

      var found = new HashSet<String>();
      found.add(one.submit(CoreAffinityTest::allowed).get());
      found.add(other.submit(CoreAffinityTest::allowed).get());
      assertThat(found).hasSize(2).allMatch(list -> list.matches("\\d+"), "is one core");
      assertThat(allowed()).isEqualTo(before);
    }
  }

  @Test
  void aNameThatNobodyHasChangesNothing() throws Exception {
    var before = allowed();
    CoreAffinity.spread("nobody");
    assertThat(allowed()).isEqualTo(before);
  }

  /// The calling thread's cores, such as `0-1`.
  private static String allowed() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
      return lines.filter(line -> line.startsWith("Cpus_allowed_list:"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip()).findFirst().orElseThrow();
    }
  }
}
