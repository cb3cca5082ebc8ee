package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.testing.CodeArtifact;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `serve` writes to stderr when it can't start. `ServeTest` runs the command.
class ServeCommandTest {

    @Test
    @Tag("RUN-14")
    void theCompilersErrorComesFirstAndKeepsItsLines(@TempDir Path directory) throws Exception {
        var artifact = CodeArtifact.hooks(
                directory, "@Override public Object modelFn(ModelContext context) { return com.acme.Gone.text(); }");
        try (var server = artifact.server().startWithoutWaiting()) {
            var reason = catchThrowableOfType(
                            StartException.class, () -> server.server().awaitReady())
                    .getMessage();
            assertThat(ServeCommand.shown(reason).lines())
                    .hasSize(4)
                    .first()
                    .asString()
                    .endsWith("code/Inference.java:2: error: package com.acme does not exist");
            assertThat(ServeCommand.shown(reason)).endsWith("^\n  put the jar that has this package into code/lib");
        }
    }

    @Test
    void otherProblemsAreOneLine() {
        assertThat(ServeCommand.shown("one\ntwo")).isEqualTo("one; two");
    }
}
