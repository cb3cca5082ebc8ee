package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.serving.ModelFacts;
import java.util.Locale;
import java.util.function.Predicate;

/// What OpenAPI's document says of one route, while it is put together. What is said first stands
/// first. A route without a summary is not shown.
///
/// Examples are JSON with less typing, `{live: true, name: ''}`.
public interface Operation {

    /// The groups of routes.
    enum Group {
        MODEL,
        MODELS,
        SERVER,
        PROTOCOL,
        PAGE;

        public String tag() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// @param errors the form of them, one of those that [ErrorForm] names
    Operation of(Group group, String summary, ErrorForm errors);

    /// Of a route that asks a model in the types that its hooks have.
    Operation ask(String summary);

    /// Whether a model that is loaded has this.
    boolean any(Predicate<ModelFacts> has);

    default Operation server(String summary) {
        return of(Group.SERVER, summary, ErrorForm.PLAIN);
    }

    default Operation models(String summary, String answer) {
        return of(Group.MODELS, summary, ErrorForm.PLAIN).answers(answer);
    }

    /// Of a platform's or another server's protocol that has the message alone for an error.
    default Operation protocol(String summary, String answer) {
        return of(Group.PROTOCOL, summary, ErrorForm.TEXT).answers(answer);
    }

    default Operation page(String summary) {
        return of(Group.PAGE, summary, ErrorForm.PLAIN);
    }

    default Operation model(String summary, ErrorForm errors) {
        return of(Group.MODEL, summary, errors);
    }

    Operation says(String description);

    /// @param example what the bodies have at least
    Operation takes(String example);

    /// @param example a body of JSON
    Operation answers(String example);

    /// An answer of another type; `*/*` is any.
    Operation answersIn(String type);

    /// An answer without a body.
    Operation responds(int status, String description);

    /// Of two errors with the same status, the description has both.
    Operation fails(ErrorType... types);

    /// Fails as a request may that has a body and is much work.
    default Operation failsInWork() {
        return fails(
                ErrorType.BAD_INPUT,
                ErrorType.PAYLOAD_TOO_LARGE,
                ErrorType.UNSUPPORTED_MEDIA_TYPE,
                ErrorType.INTERNAL,
                ErrorType.NOT_READY,
                ErrorType.DEADLINE_EXCEEDED,
                ErrorType.INSUFFICIENT_MEMORY);
    }

    /// Fails as any way to ask a model may.
    default Operation failsAsking() {
        return failsInWork().fails(ErrorType.NOT_ACCEPTABLE, ErrorType.OVERLOADED);
    }

    Operation query(String name, String type, String description);
}
