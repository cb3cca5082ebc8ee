package dev.berth;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
