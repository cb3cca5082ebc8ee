package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptTest {

    private static final List<MediaType> OFFERED = List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.CSV);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "*/* | application/jsonlines",
                "'' | application/jsonlines",
                "application/* | application/jsonlines",
                "text/* | text/csv",
                "image/png, text/csv | text/csv",
                "text/csv, application/json | text/csv",
                "text/csv;q=0.1, application/json | application/json",
                "text/csv;q=0.1, */*;q=0.01 | text/csv",
                "*/*, application/jsonlines;q=0 | application/json",
                "*/*, application/jsonlines;q=0, application/json;q=0 | text/csv",
                "*/*, application/json;q=0.1, application/jsonlines;q=0.1, text/csv;q=0.2 | text/csv",
                "application/json;q=0.5, text/*;q=0.4, */*;q=0 | application/json",
                "TEXT/CSV | text/csv",
                "text/csv;q=nonsense | text/csv",
                "text/html;a=\",\", text/csv | text/csv",
                "rubbish, application/json | application/json"
            })
    void theBestOfWhatIsOfferedWins(String header, String chosen) {
        assertThat(Accept.choose(Optional.of(header), OFFERED, MediaType.JSON_LINES))
                .hasToString(chosen);
    }

    @Test
    void noHeaderMeansTheDefault() {
        assertThat(Accept.choose(Optional.empty(), OFFERED, MediaType.CSV)).isEqualTo(MediaType.CSV);
    }

    @Test
    void aDefaultThatIsNotOfferedGivesWayToTheFirstThatIs() {
        assertThat(Accept.choose(Optional.empty(), OFFERED, MediaType.TEXT)).isEqualTo(MediaType.JSON);
    }

    @Test
    void hooksThatDeclareNothingGetTheTypeThatTheCallerLikesBest() {
        var chosen = Accept.choose(Optional.of("image/png;q=0.5, image/jpeg"), List.of(), MediaType.JSON);
        assertThat(chosen).hasToString("image/jpeg");
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/x-unknown", "rubbish", "text/csv;q=0", "image/*", "*/*;q=0"})
    void nothingAcceptableSaysWhatIsOffered(String header) {
        assertThatThrownBy(() -> Accept.choose(Optional.of(header), OFFERED, MediaType.JSON))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.NOT_ACCEPTABLE))
                .hasMessageContaining(header)
                .hasMessageContaining("application/jsonlines");
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "\"", "a/b;c=\"\\\\", "*/*,"})
    void aHeaderMadeToCostTimeIsRefusedByItsLength(String unit) {
        assertThatThrownBy(() -> Accept.choose(Optional.of("a/b," + unit.repeat(30_000)), OFFERED, MediaType.JSON))
                .isInstanceOf(ServingException.class)
                .hasMessageContaining("expected at most 1024");
    }
}
