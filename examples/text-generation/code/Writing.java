import dev.berth.engine.Graph;
import dev.berth.engine.KeptTensor;
import dev.berth.hooks.PartStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/// A text between two steps. Used on its worker's thread.
final class Writing implements AutoCloseable {

    private final Task task;
    private final Language language;
    private final KeptTensor cache;
    private final Sampler sampler;
    private final Tail tail;
    private final StringBuilder text = new StringBuilder();
    private final List<Long> ids = new ArrayList<>();

    /// How many tokens the cache had at the beginning, in a session.
    private final int cached;

    /// What the model is to read next: the rest of the prompt, or the last token.
    private long[] unread;

    /// How many tokens the cache has.
    private int read;

    Writing(Task task, Language language, Graph model) {
        this.task = task;
        this.language = language;
        this.cache = task.talk()
                .map(talk -> talk.cacheFor(model, language))
                .orElseGet(() -> model.keep(language.emptyCache()));
        this.sampler = new Sampler(task.sampling());
        this.tail = new Tail(task.stops());
        this.cached = task.talk().map(Talk::read).orElse(0);
        this.unread = LongStream.concat(
                        task.talk().stream().flatMapToLong(talk -> LongStream.of(talk.unread())),
                        LongStream.of(task.prompt()))
                .toArray();
        this.read = cached;
    }

    KeptTensor cache() {
        return cache;
    }

    int read() {
        return read;
    }

    /// What the model is to read in this step.
    long[] next(int most) {
        return unread.length <= most ? unread : Arrays.copyOf(unread, most);
    }

    /// The model has read some more tokens.
    ///
    /// @param logits of the token after them
    void advance(int count, float[] logits, PartStream<?, Part> stream) {
        read += count;
        unread = Arrays.copyOfRange(unread, count, unread.length);
        if (unread.length == 0) {
            write(sampler.choose(logits), stream);
        }
    }

    private void write(long id, PartStream<?, Part> stream) {
        if (ids.isEmpty() && task.form().isChat()) {
            stream.emit(new Part.Begin());
        }
        if (ids.isEmpty() && !task.echo().isEmpty()) {
            text.append(task.echo());
            stream.emit(new Part.Text(0, 0, task.echo()));
        }
        ids.add(id);
        unread = new long[] {id};
        boolean ended = id == language.mark("end");
        var shown = tail.add(language.bytes(id));
        boolean last = ended || tail.stopped() || ids.size() == task.maxTokens();
        shown += last ? tail.end() : "";
        text.append(shown);
        if (!shown.isEmpty() || task.form().hasTokens()) {
            stream.emit(new Part.Text(ids.size(), id, shown));
        }
        if (last) {
            end(ended ? Part.Reason.END_OF_TEXT : tail.stopped() ? Part.Reason.STOP : Part.Reason.LENGTH, stream);
        }
    }

    private void end(Part.Reason reason, PartStream<?, Part> stream) {
        int prompt = task.talk().map(Talk::size).orElse(0) + task.prompt().length;
        var end = new Part.End(text.toString(), List.copyOf(ids), reason, prompt, cached);
        task.talk().ifPresent(talk -> talk.add(said(reason), read));
        if (!task.form().plain()) {
            stream.emit(end);
        }
        task.form().reply().filter(_ -> task.form().isLast(end)).ifPresent(reply -> {
            if (reply.wantsUsage()) {
                var form = task.form();
                stream.emit(new Part.Usage(Form.usage(form.ends(), form.choices())));
            }
            stream.emit(new Part.Done());
        });
        stream.end();
    }

    /// What a session has more than before: a chat goes on behind the mark at the end, which a text
    /// that was cut has not.
    private List<Long> said(Part.Reason reason) {
        var said = new ArrayList<>(LongStream.of(task.prompt()).boxed().toList());
        said.addAll(ids);
        if (task.form().isChat() && reason != Part.Reason.END_OF_TEXT) {
            said.add(language.mark("end"));
        }
        return said;
    }

    /// The cache of a session stays with it.
    @Override
    public void close() {
        if (task.talk().isEmpty()) {
            cache.close();
        }
    }
}
