import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.openai.Chat;
import dev.berth.openai.Completion;
import dev.berth.openai.Input;
import dev.berth.openai.Message;
import dev.berth.openai.Options;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/// Reads a body of any of the forms: OpenAI's `messages` or `prompt`, the `inputs` of
/// text-generation-inference, plain text.
final class Requests {

    /// The parameters of text-generation-inference that are read.
    private static final List<String> PARAMETERS =
            List.of("max_new_tokens", "do_sample", "temperature", "top_k", "top_p", "seed", "stop");

    /// The others, with the values that change nothing; an empty list: any.
    private static final JsonNode IDLE_PARAMETERS = Json.parse("""
          {"adapter_id": [null], "best_of": [1], "decoder_input_details": [false], "details": [],
           "frequency_penalty": [0], "grammar": [null], "repetition_penalty": [1],
           "return_full_text": [false], "top_n_tokens": [0], "truncate": [null], "typical_p": [1],
           "watermark": [false]}
          """, "parameters");

    private static final int MOST_TEXTS = 1024;

    private static final JsonNode IDLE = Json.parse("{\"model\": [], \"options\": []}", "body");

    /// @param echo its text, where the answer begins with it
    private record Prompt(long[] ids, String echo) {}

    private final Language language;

    Requests(Language language) {
        this.language = language;
    }

    /// @return one for each text to write
    List<Task> read(InvocationRequest request) throws IOException {
        if (request.contentType().withoutParameters().equals(MediaType.TEXT)) {
            var text = new Input("body", TextNode.valueOf(request.text()));
            return generate(request, text, MissingNode.getInstance());
        }
        var body = request.json();
        var chat = Chat.of(request, body, List.of("n", "top_k"));
        if (chat.isPresent()) {
            var prompt = new Prompt(messages(chat.get().messages()), "");
            var options = chat.get().options();
            return tasks(request, List.of(prompt), options, Form.of(chat.get().reply(), 1, options.n()));
        }
        var completion = Completion.of(request, body, List.of("n", "top_k", "echo"));
        if (completion.isPresent()) {
            boolean echo = completion.get().echo();
            var prompts = completion.get().prompts().stream()
                    .map(input -> prompt(input, echo))
                    .toList();
            var options = completion.get().options();
            var form = Form.of(completion.get().reply(), prompts.size(), options.n());
            return tasks(request, prompts, options, form);
        }
        if (!body.has("inputs")) {
            throw new BadInputException(
                    "body: found %s, expected an object with messages, prompt or inputs".formatted(Excerpt.of(body)));
        }
        return generate(request, new Input("inputs", body.path("inputs")), body);
    }

    private List<Task> generate(InvocationRequest request, Input inputs, JsonNode body) {
        var fields = Fields.of(body, "body", List.of("inputs", "parameters", "stream"), IDLE);
        var parameters = Fields.of(fields.json("parameters"), "parameters", PARAMETERS, IDLE_PARAMETERS);
        boolean plain = request.accept().equals(MediaType.TEXT);
        return tasks(
                request,
                List.of(prompt(inputs, false)),
                Options.of(parameters),
                new Form(Optional.empty(), plain, fields.bool("stream"), 1, 1, new ArrayList<>()));
    }

    private List<Task> tasks(InvocationRequest request, List<Prompt> prompts, Options options, Form form) {
        var talk = request.session(Talk.class);
        int most = talk.isPresent() ? 1 : MOST_TEXTS;
        if (form.texts() > most) {
            throw new BadInputException("prompt: found %d texts to write, expected at most %d%s"
                    .formatted(form.texts(), most, talk.isPresent() ? " in a session" : ""));
        }
        long seed = options.seed().orElseGet(() -> ThreadLocalRandom.current().nextLong());
        var sampling = new Sampler.Settings(
                options.temperature().orElse(options.fields().bool("do_sample", false) ? 1.0 : 0.0),
                options.fields().integer("top_k", 0, Integer.MAX_VALUE, 0),
                options.topP().orElse(1.0),
                seed);
        var tasks = new ArrayList<Task>();
        for (var prompt : prompts) {
            int room = room(talk.map(Talk::size).orElse(0) + prompt.ids.length);
            for (int choice = 0; choice < form.choices(); choice++) {
                tasks.add(new Task(
                        prompt.ids,
                        prompt.echo,
                        options.maxTokens(room),
                        options.stops(),
                        sampling.withSeed(seed + choice),
                        form,
                        talk));
            }
        }
        return tasks;
    }

    /// How many tokens may follow those that there are.
    private int room(int tokens) {
        if (tokens >= language.context()) {
            throw new BadInputException(
                    "the prompt: found %d tokens, expected at most %d, as the model reads %d with its own"
                            .formatted(tokens, language.context() - 1, language.context()));
        }
        return language.context() - tokens;
    }

    /// A mark with the role, the text and the mark `end` of each message, then the mark for the
    /// answer to write.
    private long[] messages(List<Message> messages) {
        var ids = LongStream.builder();
        for (var message : messages) {
            ids.add(language.mark(message.role()));
            Arrays.stream(language.ids(message.content())).forEach(ids::add);
            ids.add(language.mark("end"));
        }
        return ids.add(language.mark("assistant")).build().toArray();
    }

    private Prompt prompt(Input input, boolean echo) {
        var ids = input.ids().orElseGet(() -> language.ids(input.text()));
        if (ids.length == 0) {
            throw new BadInputException(input.name() + ": found an empty text, expected one to go on with");
        }
        for (long id : ids) {
            if (!language.has(id)) {
                throw new BadInputException(
                        "%s: found the token id %d, expected ids of tokenizer.json".formatted(input.name(), id));
            }
        }
        return new Prompt(ids, echo ? language.text(ids) : "");
    }
}
