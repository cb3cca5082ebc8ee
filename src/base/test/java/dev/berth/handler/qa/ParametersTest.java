package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.content.Fields;
import dev.berth.hooks.BadInputException;
import org.junit.jupiter.api.Test;

class ParametersTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Parameters DEFAULTS = Parameters.defaults(512);

    @Test
    void aStrideIsOnesOwnWhereItWasAskedFor() throws Exception {
        assertThat(DEFAULTS.rows().isOwnStride()).isFalse();
        assertThat(with(DEFAULTS, "{\"max_seq_len\": 100}").rows().isOwnStride())
                .isFalse();
        assertThat(with(DEFAULTS, "{\"doc_stride\": null}").rows().isOwnStride())
                .isFalse();
        assertThat(with(DEFAULTS, "{\"doc_stride\": 128}").rows().isOwnStride()).isTrue();
    }

    @Test
    void theStrideOfAnArtifactHoldsForTheWindowsOfTheArtifact() throws Exception {
        var artifact = with(DEFAULTS, "{\"doc_stride\": 200, \"max_seq_len\": 300}");

        assertThat(with(artifact, "{\"top_k\": 2}").rows().isOwnStride()).isTrue();
        assertThat(with(artifact, "{\"max_seq_len\": 300}").rows().isOwnStride())
                .isTrue();
        assertThat(with(artifact, "{\"max_seq_len\": 100}").rows().isOwnStride())
                .isFalse();
        assertThat(artifact.withTopK(3).rows().isOwnStride()).isTrue();
    }

    @Test
    void anOwnStrideIsShorterThanTheWindows() {
        assertThatThrownBy(() -> with(DEFAULTS, "{\"doc_stride\": 100, \"max_seq_len\": 100}"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("parameters.doc_stride: found 100, expected less than max_seq_len, which is 100");
    }

    private static Parameters with(Parameters defaults, String json) throws JsonProcessingException {
        return defaults.with(Fields.of(JSON.readTree(json), "parameters", Parameters.NAMES), 512);
    }
}
