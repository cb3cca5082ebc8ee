package dev.berth;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
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
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.berth");

  /// Each package, and the packages of Berth that it may use. The same as in docs/architecture.md.
  private static final Map<String, Set<String>> EDGES =
      Map.ofEntries(
          Map.entry("hooks", Set.of()),
          Map.entry("error", Set.of()),
          Map.entry("metrics", Set.of()),
          Map.entry("telemetry", Set.of("config")),
          Map.entry("telemetry.emf", Set.of("telemetry", "config", "json")),
          Map.entry("telemetry.otlp", Set.of("telemetry", "config")),
          Map.entry("memory", Set.of()),
          Map.entry("json", Set.of("memory")),
          Map.entry("tokenizer", Set.of("hooks", "json", "memory")),
          Map.entry("tokenizer.mecab", Set.of("tokenizer", "memory")),
          Map.entry("storage", Set.of()),
          Map.entry("storage.local", Set.of("storage")),
          Map.entry("storage.s3", Set.of("storage")),
          Map.entry("config", Set.of("hooks", "content")),
          Map.entry("content", Set.of("hooks", "json", "memory")),
          Map.entry("audio", Set.of()),
          Map.entry("image", Set.of("hooks", "memory")),
          Map.entry("artifact", Set.of("hooks", "json")),
          Map.entry("artifact.code", Set.of("hooks", "artifact")),
          Map.entry("engine", Set.of("hooks", "artifact", "memory")),
          Map.entry("engine.cores", Set.of("hooks")),
          Map.entry(
              "engine.torch", Set.of("hooks", "artifact", "engine", "engine.cores", "memory")),
          Map.entry("engine.onnx", Set.of("hooks", "artifact", "engine", "engine.cores", "memory")),
          Map.entry("handler.task", Set.of("hooks", "artifact", "content", "engine", "json")),
          Map.entry(
              "handler.qa",
              Set.of(
                  "hooks",
                  "artifact",
                  "content",
                  "engine",
                  "handler.task",
                  "json",
                  "memory",
                  "tokenizer")),
          Map.entry("openai", Set.of("hooks", "content")),
          Map.entry(
              "handler.text",
              Set.of(
                  "hooks",
                  "artifact",
                  "content",
                  "engine",
                  "handler.task",
                  "memory",
                  "openai",
                  "tokenizer")),
          Map.entry(
              "handler.image",
              Set.of("hooks", "artifact", "content", "image", "engine", "handler.task")),
          Map.entry("handler.tensor", Set.of("hooks", "artifact", "content", "engine", "memory")),
          Map.entry(
              "hub",
              Set.of(
                  "hooks",
                  "artifact",
                  "command",
                  "config",
                  "engine",
                  "error",
                  "handler.task",
                  "json",
                  "tokenizer")),
          Map.entry("batching", Set.of("error", "metrics", "telemetry")),
          Map.entry(
              "serving.hooks",
              Set.of("hooks", "artifact.code", "batching", "error", "memory", "metrics")),
          Map.entry("serving.sessions", Set.of("hooks", "error", "metrics", "serving.hooks")),
          Map.entry(
              "serving",
              Set.of(
                  "hooks",
                  "artifact.code",
                  "batching",
                  "error",
                  "memory",
                  "metrics",
                  "serving.hooks",
                  "serving.sessions",
                  "telemetry")),
          Map.entry(
              "serving.many",
              Set.of(
                  "hooks", "artifact", "error", "memory", "metrics", "serving", "serving.hooks")),
          Map.entry(
              "http",
              Set.of(
                  "hooks",
                  "serving",
                  "serving.hooks",
                  "serving.many",
                  "serving.sessions",
                  "error",
                  "metrics",
                  "config",
                  "json",
                  "memory",
                  "telemetry",
                  "http.body",
                  "http.connections")),
          Map.entry("http.body", Set.of("hooks", "content", "error", "memory", "serving.hooks")),
          Map.entry("http.connections", Set.of("metrics", "config")),
          Map.entry(
              "openinference",
              Set.of(
                  "hooks",
                  "content",
                  "memory",
                  "serving",
                  "serving.hooks",
                  "serving.many",
                  "error",
                  "metrics",
                  "config",
                  "json",
                  "http",
                  "http.body")),
          Map.entry(
              "dialects",
              Set.of(
                  "hooks",
                  "content",
                  "handler.task",
                  "memory",
                  "serving",
                  "error",
                  "metrics",
                  "config",
                  "http")),
          Map.entry(
              "openai.paths", Set.of("hooks", "serving", "error", "config", "http", "openai")),
          Map.entry(
              "sockets",
              Set.of(
                  "hooks",
                  "memory",
                  "serving",
                  "serving.hooks",
                  "serving.sessions",
                  "error",
                  "metrics",
                  "telemetry",
                  "config",
                  "http",
                  "http.body",
                  "http.connections")),
          Map.entry(
              "desk",
              Set.of(
                  "memory",
                  "serving.hooks",
                  "error",
                  "config",
                  "json",
                  "storage",
                  "http",
                  "http.body")),
          Map.entry(
              "page",
              Set.of("hooks", "serving", "serving.many", "error", "config", "json", "http")),
          Map.entry("table", Set.of()),
          Map.entry("transform.filter", Set.of("hooks", "content")),
          Map.entry("transform.checkpoint", Set.of("content", "storage")),
          Map.entry(
              "transform",
              Set.of(
                  "hooks",
                  "content",
                  "image",
                  "json",
                  "storage",
                  "memory",
                  "table",
                  "transform.filter",
                  "transform.checkpoint")),
          Map.entry(
              "transform.command", Set.of("command", "config", "json", "storage", "transform")));

  @Test
  void packagesUseOnlyThePackagesThatTheyMay() {
    EDGES.forEach(
        (name, allowed) -> {
          var packages =
              Stream.concat(Stream.of(name), allowed.stream())
                  .map(p -> "dev.berth." + p)
                  .toArray(String[]::new);
          classes()
              .that()
              .resideInAPackage("dev.berth." + name)
              .should()
              .onlyDependOnClassesThat(
                  not(resideInAPackage("dev.berth..")).or(resideInAnyPackage(packages)))
              .check(BERTH);
        });
  }

  /// The root has `Main` and nothing else, and `command` may use everything.
  @Test
  void everyPackageHasItsEdgesListedAndIsExplained() {
    var packages = BERTH.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    var listed =
        EDGES.keySet().stream().map(name -> "dev.berth." + name).collect(Collectors.toSet());
    listed.add("dev.berth.command");
    assertThat(packages).containsAll(listed);
    packages.removeAll(listed);
    assertThat(packages).containsExactly("dev.berth");
    assertThat(BERTH.getPackage("dev.berth").getClasses())
        .extracting(JavaClass::getSimpleName)
        .containsExactly("Main");
    for (var name : listed) {
      var sources = name.equals("dev.berth.hooks") ? "src/hooks/java" : "src/main/java";
      assertThat(Path.of(sources, name.replace('.', '/'), "package-info.java")).exists();
    }
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("dev.berth.(**)").should().beFreeOfCycles().check(BERTH);
  }

  @Test
  void thePublishedHooksUseNothingButTheJdk() {
    classes()
        .that()
        .resideInAPackage("dev.berth.hooks")
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage("java..", "dev.berth.hooks"))
        .check(BERTH);
  }

  @Test
  void onlyTheEngineAndTheTokenizerTouchDjl() {
    noClasses()
        .that()
        .resideOutsideOfPackages("dev.berth.engine.torch", "dev.berth.tokenizer")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("ai.djl..")
        .check(BERTH);
  }

  @Test
  void onlyHttpAndProtocolsTouchJavalinAndJetty() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "dev.berth.http",
            "dev.berth.http.body",
            "dev.berth.http.connections",
            "dev.berth.openinference",
            "dev.berth.dialects",
            "dev.berth.openai.paths",
            "dev.berth.sockets",
            "dev.berth.desk",
            "dev.berth.page")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.javalin..", "org.eclipse.jetty..", "jakarta..")
        .check(BERTH);
  }

  @Test
  void onlyTheExportTouchesOpenTelemetry() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.berth.telemetry.otlp")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.opentelemetry..")
        .check(BERTH);
  }

  @Test
  void onlyS3TouchesTheAwsSdk() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.berth.storage.s3")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("software.amazon.awssdk..")
        .check(BERTH);
  }

  @Test
  void onlyMainReadsTheEnvironmentAndEndsTheProcess() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("dev.berth.Main")
        .should()
        .callMethod(System.class, "exit", int.class)
        .orShould()
        .callMethod(System.class, "getenv")
        .orShould()
        .callMethod(System.class, "getenv", String.class)
        .check(BERTH);
  }
}
