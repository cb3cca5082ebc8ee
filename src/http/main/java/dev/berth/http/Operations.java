package dev.berth.http;

import dev.berth.serving.ModelFacts;
import java.util.Locale;
import java.util.function.Predicate;

/// Begins what OpenAPI's document says of a route. Whoever writes the document implements it.
///
/// Examples of answers are JSON with less typing, `{live: true, name: ''}`.
public interface Operations {

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
        return of(Group.PROTOCOL, summary, JsonErrorForm.TEXT).answers(answer);
    }

    default Operation page(String summary) {
        return of(Group.PAGE, summary, ErrorForm.PLAIN);
    }

    default Operation model(String summary, ErrorForm errors) {
        return of(Group.MODEL, summary, errors);
    }
}
