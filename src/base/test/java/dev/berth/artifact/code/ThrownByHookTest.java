package dev.berth.artifact.code;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.HookException;
import dev.berth.testing.CodeArtifact;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThrownByHookTest {

    private static final String OWN = """
      static int asked;
      static final class Odd extends RuntimeException {
        Odd(Throwable cause) { super(cause); }
        @Override public String getMessage() { return "asked " + ++asked; }
        @Override public String toString() { throw new IllegalStateException("toString"); }
      }
      static final class Circle extends Exception {
        @Override public synchronized Throwable getCause() { return new Circle(); }
      }
      static final class Silent extends Error {
        @Override public StackTraceElement[] getStackTrace() { throw new IllegalStateException(); }
      }
      @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
        switch (records.getFirst()) {
          case "odd" -> throw new Odd(new IOException("disk", new Odd(null)));
          case "circle" -> throw new Circle();
          case "silent" -> throw new Silent();
          default -> {
            var e = new IllegalStateException("JDK");
            e.addSuppressed(new Odd(null));
            throw e;
          }
        }
      }
      """;

    @TempDir
    private Path directory;

    @Test
    void whatIsHarmlessStaysWhatItIs() {
        var harmless = new IllegalStateException("a", new IOException("b"));
        harmless.addSuppressed(new Error("c"));
        assertThat(ThrownByHook.ask(harmless)).isSameAs(harmless);
    }

    @Test
    void anExceptionOfTheHooksOwnIsAskedOnceAndKeepsItsNameAndPlace() throws Exception {
        var odd = ThrownByHook.ask(thrown("odd"));
        for (int i = 0; i < 3; i++) {
            assertThat(odd).hasToString("Inference$Odd: asked 1").hasMessage("asked 1");
            assertThat(odd.getCause()).hasToString("java.io.IOException: disk");
            assertThat(odd.getCause().getCause()).hasToString("Inference$Odd: asked 2");
        }
        assertThat(odd.getStackTrace()[0].getMethodName()).isEqualTo("predictFn");
        assertThat(Thrown.place(odd)).startsWith(" at Inference.java:");
        assertThat(ThrownByHook.simpleName(odd)).isEqualTo("Odd");
        assertThat(ThrownByHook.ask(odd)).isSameAs(odd);
    }

    @Test
    void causesWithoutEndHaveOneAndWhatIsSuppressedIsAskedToo() throws Exception {
        var circle = ThrownByHook.ask(thrown("circle"));
        assertThat(Thrown.chain(circle)).hasSize(20);
        assertThat(ThrownByHook.ask(circle)).isSameAs(circle);
        assertThat(ThrownByHook.ask(thrown("silent"))).hasToString("Inference$Silent");
        assertThat(ThrownByHook.ask(thrown("suppressed")))
                .hasToString("java.lang.IllegalStateException: JDK")
                .extracting(e -> e.getSuppressed()[0].toString())
                .isEqualTo("Inference$Odd: asked 1");
    }

    @Test
    void aMessageWithoutEndIsCutAndSoAreFailuresWithoutNumber() {
        var many = new IllegalStateException("x".repeat(20_000));
        for (int i = 0; i < 1_000; i++) {
            many.addSuppressed(new IllegalStateException("of a record"));
        }
        var cut = ThrownByHook.ask(many);
        assertThat(cut.getMessage()).hasSize(10_000).endsWith("x…");
        assertThat(cut.getSuppressed()).hasSizeLessThan(20);
    }

    @Test
    void whatIsForTheCallerKeepsItsType() throws Exception {
        for (var type : HookException.class.getPermittedSubclasses()) {
            var wordy = (Throwable) type.getConstructor(String.class).newInstance("x".repeat(20_000));
            assertThat(ThrownByHook.ask(wordy)).isInstanceOf(type).message().hasSize(10_000);
        }
    }

    @Test
    void aClassThatCannotStartStillSaysWhy() throws Exception {
        var error = ThrownByHook.ask(new ExceptionInInitializerError(thrown("odd")));
        assertThat(Thrown.of(error)).startsWith("Inference$Odd: asked 1, caused by ");
    }

    /// What a hook throws, out of its own class loader.
    @SuppressWarnings("unchecked")
    private Throwable thrown(String which) throws Exception {
        var handler = (dev.berth.testing.TextHandler)
                CodeArtifact.hooks(directory, OWN).code().create(() -> {});
        Callable<Object> call = () -> handler.predictFn(java.util.List.of(which), handler);
        try {
            return new AssertionError("it threw nothing but returned " + call.call());
        } catch (Throwable e) {
            return e;
        }
    }
}
