package dev.berth.tokenizer.mecab;

import dev.berth.testing.JapaneseArtifact;
import dev.berth.testing.QuestionReference;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A BERT whose words MeCab cuts, asked over HTTP. The answers are those of Python's MeCab,
/// tokenizers and torch.
class JapaneseBertTest {

    @Test
    void itAnswersAsInPythonAndInWholeWords(@TempDir Path directory) throws Exception {
        try (var server = TestServer.artifact(JapaneseArtifact.write(directory)).start()) {
            for (var line : QuestionReference.lines("japanese-bert.jsonl").toList()) {
                QuestionReference.check(server, line, 1e-3, true);
            }
        }
    }
}
