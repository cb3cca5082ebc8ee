package dev.berth;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Who may use whom, checked from the compiled classes.
class ArchitectureTest {

    private static final JavaClasses BERTH = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("berth-testing"))
            .importPackages("dev.berth");

    @Test
    void everyPackageIsExplained() throws IOException {
        try (var files = Files.walk(Path.of("src"))) {
            assertThat(files.filter(file -> file.endsWith("package-info.java"))
                            .map(file -> file.getParent().toString().replaceFirst(".*?/java/", ""))
                            .map(name -> name.replace('/', '.')))
                    .containsAll(BERTH.stream()
                            .map(JavaClass::getPackageName)
                            .filter(name -> !name.equals("dev.berth"))
                            .toList());
        }
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("dev.berth.(**)").should().beFreeOfCycles().check(BERTH);
    }

    /// Classes are in a circle when each reaches all others. What is nested counts as what is around it.
    @Test
    void fewClassesAreInCirclesAndNoCircleIsLarge() {
        var uses = new TreeMap<String, Set<String>>();
        for (var type : BERTH) {
            var names = uses.computeIfAbsent(outermost(type), _ -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> outermost(dependency.getTargetClass()))
                    .filter(name -> name.startsWith("dev.berth."))
                    .forEach(names::add);
        }
        var reached = new TreeMap<String, Set<String>>();
        uses.forEach((name, _) -> reached.put(name, reachedFrom(name, uses)));
        var circles = new TreeMap<String, List<String>>();
        reached.forEach((name, others) -> {
            var circle = others.stream()
                    .filter(other -> other.equals(name)
                            || reached.getOrDefault(other, Set.of()).contains(name))
                    .toList();
            if (circle.size() > 1) {
                circles.put(name, circle);
            }
        });
        assertThat(circles.values()).allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(6));
        assertThat(circles.keySet()).hasSizeLessThanOrEqualTo(reached.size() * 8 / 100);
    }

    private static String outermost(JavaClass type) {
        return type.getBaseComponentType().getName().replaceFirst("\\$.*", "");
    }

    private static Set<String> reachedFrom(String name, Map<String, Set<String>> uses) {
        var reached = new TreeSet<String>();
        var open = new ArrayDeque<>(uses.get(name));
        while (!open.isEmpty()) {
            var next = open.pop();
            if (reached.add(next)) {
                open.addAll(uses.getOrDefault(next, Set.of()));
            }
        }
        reached.add(name);
        return reached;
    }

    @Test
    void thePublishedHooksUseNothingButTheJdkAndJacksonsTree() {
        classes()
                .that()
                .resideInAPackage("dev.berth.hooks")
                .should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage("java..", "dev.berth.hooks").or(type(JsonNode.class)))
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
