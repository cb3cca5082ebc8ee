package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;

/// A form whose media type is `application/json` without a parameter.
public class JsonErrorForm implements ErrorForm {

    /// `{"error": {"message": …, "type": …, "code": …}}`, as OpenAI and Google have it.
    public static final ErrorForm NESTED = new JsonErrorForm((type, message, _) -> Errors.wrapped(type, message));

    /// `{"error": …}`, as the Open Inference Protocol and Hugging Face have it. KServe's client shows
    /// no error whose type has a parameter.
    public static final ErrorForm TEXT = new JsonErrorForm((_, message, _) -> Errors.alone(message)) {
        @Override
        public byte[] malformed(int status, String message) {
            return Errors.alone(message);
        }
    };

    private final ErrorForm form;

    /// @param form writes the bodies
    public JsonErrorForm(ErrorForm form) {
        this.form = form;
    }

    @Override
    public byte[] body(ErrorType type, String message, String path) {
        return form.body(type, message, path);
    }

    @Override
    public String contentType() {
        return MediaType.JSON.toString();
    }
}
