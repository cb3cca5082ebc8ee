package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.content.Fields;
import org.junit.jupiter.api.Test;

class ParametersTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Parameters DEFAULTS = Parameters.defaults(512);

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

    private static Parameters with(Parameters defaults, String json) throws JsonProcessingException {
        return defaults.with(Fields.of(JSON.readTree(json), "parameters", Parameters.NAMES), 512);
    }
}
