package dev.berth.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.artifact.Target;
import dev.berth.hooks.Accelerator;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DevicesTest {

  private static final Machine PLAIN = new Machine(false, 0, Optional.empty(), 0);
  private static final Machine TWO_GPUS = new Machine(true, 2, Optional.empty(), 0);
  private static final Machine GPU_WITHOUT_CUDA = new Machine(true, 0, Optional.empty(), 0);
  private static final Machine INFERENTIA = new Machine(false, 0, Optional.of(Target.INF1), 4);
  private static final Machine INFERENTIA2 = new Machine(false, 0, Optional.of(Target.INF2), 2);

  @ParameterizedTest
  @CsvSource({
      "cpu,CPU", "GPU,GPU", "inf1,INF1", "inf2,INF2", "trn1,TRN1", "ml.c5.xlarge,CPU", "ml.m7g.2xlarge,CPU", "ml.g5.xlarge,GPU",
      "g5.xlarge,GPU", "ml.g4dn.12xlarge,GPU", "ml.g6e.48xlarge,GPU", "ml.p4de.24xlarge,GPU", "ml.inf1.6xlarge,INF1", "ml.inf2.xlarge,INF2",
      "inf2.48xlarge,INF2", "ml.trn1.32xlarge,TRN1", "ml.trn1n.32xlarge,TRN1", "ml.c6i.metal,CPU", "t3.medium,CPU"})
  void anInstanceTypeHasItsDevice(String instanceType, Target target) {
    assertThat(InstanceType.target(instanceType)).contains(target);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tpu", "", "ml.", "xlarge", "ml.g5", "gpu.xlarge"})
  void anythingElseIsAStartUpError(String instanceType) {
    assertThatThrownBy(() -> Devices.choose(Optional.of(instanceType), PLAIN))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("INSTANCE_TYPE: found \"%s\"", instanceType)
        .hasMessageContaining("ml.g5.xlarge");
  }

  @Test
  void thereIsOneAcceleratorForEachDeviceOrCore() {
    assertThat(Devices.choose(Optional.of("gpu"), TWO_GPUS).accelerators())
        .containsExactly(new Accelerator.Gpu(0), new Accelerator.Gpu(1));
    assertThat(Devices.choose(Optional.of("inf1"), INFERENTIA).accelerators()).hasSize(4).contains(new Accelerator.Inf1(3));
    assertThat(Devices.choose(Optional.of("trn1"), INFERENTIA2).accelerators()).hasSize(2).contains(new Accelerator.Trn1(1));
    assertThat(Devices.choose(Optional.of("cpu"), TWO_GPUS).accelerators()).containsExactly(new Accelerator.Cpu());
  }

  @ParameterizedTest
  @CsvSource({"gpu,GPU", "ml.g5.xlarge,NVIDIA", "inf1,/dev/neuron0", "ml.inf2.xlarge,/dev/neuron0", "trn1,/dev/neuron0"})
  void aDeviceThatIsNotThereIsAStartUpErrorAndNoSilentCpu(String instanceType, String missing) {
    assertThatThrownBy(() -> Devices.choose(Optional.of(instanceType), PLAIN))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("INSTANCE_TYPE=" + instanceType)
        .hasMessageContaining(missing);
  }

  @Test
  void withoutAnInstanceTypeTheDeviceIsDetectedAndSaid() {
    assertThat(Devices.choose(Optional.empty(), PLAIN)).satisfies(devices -> {
      assertThat(devices.target()).isEqualTo(Target.CPU);
      assertThat(devices.origin()).contains("detected");
    });
    assertThat(Devices.choose(Optional.empty(), TWO_GPUS).target()).isEqualTo(Target.GPU);
    assertThat(Devices.choose(Optional.empty(), INFERENTIA).target()).isEqualTo(Target.INF1);
    assertThat(Devices.choose(Optional.empty(), INFERENTIA2).target()).isEqualTo(Target.INF2);
  }

  @Test
  @Tag("RUN-19")
  void aDetectedGpuThatTheEngineCannotUseFallsBackAndSaysWhy() {
    assertThat(Devices.choose(Optional.empty(), GPU_WITHOUT_CUDA)).satisfies(devices -> {
      assertThat(devices.target()).isEqualTo(Target.CPU);
      assertThat(devices.origin()).contains("NVIDIA").contains("CUDA build");
    });
  }
}
