package dev.berth;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Who may use whom, checked from the compiled classes.
class ArchitectureTest {

  private static final JavaClasses BERTH =
      new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("dev.berth");

  /// Each package, and the packages of Berth that it may use.
  private static final Map<String, Set<String>> EDGES = Map.ofEntries(
      Map.entry("hooks", Set.of()),
      Map.entry("error", Set.of()),
      Map.entry("init", Set.of()),
      Map.entry("metrics", Set.of()),
      Map.entry("storage", Set.of()),
      Map.entry("config", Set.of("hooks")),
      Map.entry("artifact", Set.of("tensor")),
      Map.entry("tensor", Set.of()),
      Map.entry("content", Set.of("hooks", "tensor")),
      Map.entry("image", Set.of("hooks", "tensor")),
      Map.entry("torch", Set.of("hooks", "artifact", "tensor")),
      Map.entry("device", Set.of("hooks", "artifact", "torch")),
      Map.entry("torchscript", Set.of("hooks", "artifact", "content", "tensor", "torch")),
      Map.entry("qa", Set.of("hooks", "artifact", "content", "tensor", "torch")),
      Map.entry("batching", Set.of("error", "metrics")),
      Map.entry("code", Set.of("hooks", "artifact", "content")),
      Map.entry("model", Set.of("batching", "code", "hooks", "error", "metrics")),
      Map.entry("transform", Set.of("hooks", "content", "config", "storage")),
      Map.entry("http", Set.of("model", "hooks", "error", "metrics", "config")));

  @Test
  void packagesUseOnlyThePackagesThatTheyMay() {
    EDGES.forEach((name, allowed) -> {
      var packages = Stream.concat(Stream.of(name), allowed.stream()).map(p -> "dev.berth." + p).toArray(String[]::new);
      classes().that().resideInAPackage("dev.berth." + name)
          .should().onlyDependOnClassesThat(not(resideInAPackage("dev.berth..")).or(resideInAnyPackage(packages)))
          .check(BERTH);
    });
  }

  @Test
  void everyPackageHasItsEdgesListedAndIsExplained() {
    var packages = BERTH.getPackage("dev.berth").getSubpackages();
    assertThat(packages.stream().map(JavaPackage::getRelativeName).collect(Collectors.toSet())).isEqualTo(EDGES.keySet());
    for (var name : EDGES.keySet()) {
      var sources = name.equals("hooks") ? "src/hooks/java/dev/berth" : "src/main/java/dev/berth";
      assertThat(Path.of(sources, name, "package-info.java")).exists();
    }
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("dev.berth.(*)..").should().beFreeOfCycles().check(BERTH);
  }

  @Test
  void thePublishedHooksAndTensorsUseNothingButTheJdk() {
    classes().that().resideInAnyPackage("dev.berth.hooks", "dev.berth.hooks")
        .should().onlyDependOnClassesThat(resideInAnyPackage("java..", "dev.berth.hooks", "dev.berth.hooks"))
        .check(BERTH);
  }

  @Test
  void onlyTorchTouchesDjl() {
    noClasses().that().resideOutsideOfPackage("dev.berth.engine.torch")
        .should().dependOnClassesThat().resideInAPackage("ai.djl..")
        .check(BERTH);
  }

  @Test
  void onlyHttpTouchesJavalinAndJetty() {
    noClasses().that().resideOutsideOfPackage("dev.berth.http")
        .should().dependOnClassesThat().resideInAnyPackage("io.javalin..", "org.eclipse.jetty..", "jakarta..")
        .check(BERTH);
  }

  @Test
  void onlyStorageTouchesTheAwsSdk() {
    noClasses().that().resideOutsideOfPackage("dev.berth.storage")
        .should().dependOnClassesThat().resideInAPackage("software.amazon.awssdk..")
        .check(BERTH);
  }

  @Test
  void onlyMainReadsTheEnvironmentAndEndsTheProcess() {
    noClasses().that().doNotHaveFullyQualifiedName("dev.berth.Main")
        .should().callMethod(System.class, "exit", int.class)
        .orShould().callMethod(System.class, "getenv")
        .orShould().callMethod(System.class, "getenv", String.class)
        .check(BERTH);
  }
}
