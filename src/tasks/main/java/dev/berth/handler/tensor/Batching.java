package dev.berth.handler.tensor;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TensorArtifact;
import dev.berth.content.TensorPredictions;
import dev.berth.engine.Graph;
import dev.berth.engine.GraphNames;
import dev.berth.engine.RowCheck;
import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// What the first dimension of a forward means, and so what goes through the model together.
///
/// 1. Rows of any requests, where they are known to be independent of each other.
/// 2. One record: the file says 1.
/// 3. Something of the record itself: it is neither free in all inputs nor 1 in all.
/// 4. Rows of one request, in any other case. One caller's numbers must not reach another, nor does
///    a part of a request stand for all of it.
///
/// What is known of rows changes while the model is loaded and not afterwards. For any thread.
final class Batching {

    /// What is known of rows.
    ///
    /// @param rank of a row of the first input for which this is so; empty: any
    /// @param haveParts whether each output has a part for each row; empty: not known
    /// @param isSettled whether forwards can't change it
    private record Rows(
            boolean areIndependent,
            Optional<Integer> rank,
            Optional<Boolean> haveParts,
            String why,
            boolean isSettled) {

        private static Rows dependent(String why) {
            return new Rows(false, Optional.empty(), Optional.empty(), why, true);
        }

        private static Rows unknown(String why) {
            return new Rows(false, Optional.empty(), Optional.empty(), why, false);
        }
    }

    /// How long rows are tried. The largest model of those that were measured took 2 s.
    private static final int MOST_SECONDS = 10;

    private final RowAxes axes;
    private volatile Rows rows;

    /// By one worker for all.
    private volatile boolean isTried;

    /// @throws ModelArtifactException when `model.json` says of rows what the file contradicts
    Batching(GraphNames names, RowAxes axes, TensorArtifact artifact) {
        this.axes = axes;
        var outputs = artifact.outputs().isEmpty() ? names.outputNames() : artifact.outputs();
        var odd = outputs.stream().filter(output -> !axes.hasRows(output)).toList();
        // A number may be wrong: of LightGBM's classifiers the labels are [1], however many there are.
        boolean isNumber = odd.stream()
                .limit(1)
                .flatMap(output -> axes.shape(output).stream())
                .anyMatch(shape -> shape.getFirst() >= 0);
        var said = artifact.independentRows();
        if (said.isPresent()) {
            var wrong = odd.stream().filter(output -> !axes.mayHaveRows(output)).findFirst();
            if (said.get() && (!axes.haveRows() || wrong.isPresent())) {
                throw new ModelArtifactException(
                        artifact.directory(),
                        "model.json: independentRows: found true, and %s says otherwise: %s; leave independentRows out, or that output of outputs"
                                .formatted(
                                        artifact.file().getFileName(),
                                        wrong.filter(_ -> axes.haveRows())
                                                .map(this::oddOne)
                                                .orElse("its inputs have no first dimension of any length")));
            }
            var why = "independentRows in model.json is " + said.get();
            this.rows = new Rows(said.get(), Optional.empty(), Optional.empty(), why, true);
        } else if (names.scalesBatches()) {
            this.rows = Rows.dependent("it finds the scale of a whole batch in int8 while it runs");
        } else if (axes.symbols().size() > 1) {
            this.rows = Rows.dependent("its inputs begin with different dimensions, " + axes.symbols());
        } else {
            this.rows = odd.stream()
                    .findFirst()
                    .map(this::oddOne)
                    .map(why -> isNumber ? Rows.unknown(why) : Rows.dependent(why))
                    .orElseGet(() -> Rows.unknown("no rows have been tried"));
        }
    }

    private String oddOne(String output) {
        return "its output %s is %s, which does not begin with the rows of its inputs"
                .formatted(output, axes.shown(output));
    }

    /// What goes through the model together, for people, and why.
    String description() {
        var rows = this.rows;
        return !axes.haveRows()
                ? "one record at a time, as the file says"
                : rows.areIndependent
                        ? "rows of any requests together: " + rows.why
                        : rows.isSettled
                                ? "all rows of a request, and no others: " + rows.why
                                : "all rows of a request, and no others: %s; if its rows are independent of each other, say \"independentRows\": true in model.json, or add a sample that shows it"
                                        .formatted(rows.why);
    }

    /// Whether all of a request is one forward.
    ///
    /// @param records its rows
    boolean isOfRequests(List<List<Tensor>> records) {
        return axes.haveRows()
                && !records.stream()
                        .allMatch(record -> isMerged(record.getFirst().rank()));
    }

    /// Whether records may ever go through the model beside others.
    boolean mayMerge() {
        return axes.haveRows() && (rows.areIndependent || !rows.isSettled);
    }

    /// Whether a row goes through the model beside others.
    ///
    /// @param rank of its tensor of the first input
    boolean isMerged(int rank) {
        var rows = this.rows;
        return rows.areIndependent && axes.haveRows() && rows.rank.stream().allMatch(known -> known == rank);
    }

    /// Whether a tensor has the dimension of rows already, as far as the file or forwards tell.
    boolean hasRows(Tensor ofFirstInput) {
        var rows = this.rows;
        int rank = ofFirstInput.rank();
        return axes.isDeclared()
                ? axes.rank().equals(OptionalInt.of(rank))
                : !rows.areIndependent && rows.rank.equals(Optional.of(rank - 1));
    }

    /// Tries what the model says of made-up rows, where it is not known yet.
    void tryMadeUp(TrialRows trial, Graph model) {
        if (isTried || isKnown()) {
            return;
        }
        isTried = true;
        boolean isDeclared = axes.isDeclared();
        boolean isShown = tryEach(
                trial.madeUp(), some -> tried(some, "made-up rows", isDeclared, model::forward, model::outputNames));
        if (!isShown && !isDeclared) {
            rows = Rows.unknown("the file does not tell what a row is like");
        }
    }

    /// Tries rows like those of the sample.
    ///
    /// @param forward runs the model
    void trySample(List<List<Tensor>> sample, UnaryOperator<List<Tensor>> forward, Supplier<List<String>> outputs) {
        if (!isKnown() && !sample.isEmpty()) {
            tryEach(
                    TrialRows.like(sample),
                    some -> tried(some, "rows like those of the sample", true, forward, outputs));
        }
    }

    private boolean isKnown() {
        return rows.isSettled || !axes.haveRows();
    }

    /// Tries rows one after another until some of them show something. Interrupts what takes too long: a
    /// loop of the model may have no end.
    private boolean tryEach(Stream<List<List<Tensor>>> tries, Function<List<List<Tensor>>, Rows> tried) {
        var thread = Thread.currentThread();
        var ended = new CompletableFuture<Void>().orTimeout(MOST_SECONDS, TimeUnit.SECONDS);
        var interrupted = ended.handle((_, late) -> {
            if (late != null) {
                thread.interrupt();
            }
            return late != null;
        });
        try {
            return tries.takeWhile(_ -> !thread.isInterrupted()).anyMatch(some -> learn(tried.apply(some)));
        } finally {
            ended.complete(null);
            if (interrupted.join()) {
                Thread.interrupted();
            }
        }
    }

    /// Whether it is more than what is known already.
    private boolean learn(Rows found) {
        if (found.haveParts.isPresent() || rows.haveParts.isEmpty()) {
            rows = found;
        }
        return found.haveParts.isPresent();
    }

    /// What some rows show.
    ///
    /// @param isForGood whether rows that depend on each other settle it
    private Rows tried(
            List<List<Tensor>> some,
            String kind,
            boolean isForGood,
            UnaryOperator<List<Tensor>> forward,
            Supplier<List<String>> outputs) {
        var result = RowCheck.of(
                some,
                each -> axes.parts(forward.apply(RowAxes.columns(each)), outputs.get(), each.size()),
                output -> TensorPredictions.name(outputs.get(), output),
                RowCheck.TOLERANCE);
        boolean isShown = result.haveParts().isPresent();
        return new Rows(
                result.areIndependent(),
                Optional.of(some.getFirst().getFirst().rank()).filter(_ -> isShown && !axes.isDeclared()),
                result.haveParts(),
                kind + result.found(),
                isForGood && isShown && !result.areIndependent());
    }

    /// Whether the outputs of a request have a part for each of its rows, as far as the file and
    /// forwards tell.
    boolean haveParts(List<String> outputs) {
        return rows.haveParts.orElseGet(() -> outputs.stream().allMatch(axes::hasParts));
    }
}
