package dev.berth.engine;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// A check by forwards of whether rows are independent of each other. A few rows go through a model
/// each alone, together and, where there are more than two, two of them in another order. What it
/// says of a row must be the same each time.
public final class RowCheck {

    /// What was found.
    ///
    /// @param areIndependent whether what the model says of a row is the same whatever goes with it
    /// @param haveParts whether what the model returned has a part for each row; empty: the rows have
    ///   shown nothing
    /// @param found the same for people, as it is read behind the name of the rows
    public record Result(boolean areIndependent, Optional<Boolean> haveParts, String found) {

        private static Result dependent(boolean haveParts, String found) {
            return new Result(false, Optional.of(haveParts), " depend on each other: " + found);
        }

        private static Result unknown(String why) {
            return new Result(false, Optional.empty(), ": " + why);
        }
    }

    /// What a model returned has no part for each row.
    public static final class NoRowsException extends EngineException {
        public NoRowsException(String message) {
            super(message);
        }
    }

    /// How far apart numbers that are the same may be, as a share of the largest. Sums in another
    /// order differ by less, also in float16 and with the 10 bits that GPUs multiply float32 with.
    public static final double TOLERANCE = 0.01;

    /// Numbers of a row are no smaller than this share of the largest, but for what cancels out.
    private static final double SMALL = 0.1;

    private static final ScopedValue<Boolean> IS_RUNNING = ScopedValue.newInstance();

    private RowCheck() {}

    /// Whether the calling thread's forward is one of a check. It takes memory that no request may
    /// ever need.
    public static boolean isRunning() {
        return IS_RUNNING.isBound();
    }

    /// @param rows at least two, which differ
    /// @param forward runs the model; for each row its part of each output. A [NoRowsException] says
    ///   that it has none
    /// @param name what an output is called
    /// @param tolerance how far apart two numbers that are the same may be, as a share of the largest
    ///   that the output has for the row: engines add in another order where there are more rows
    public static <R> Result of(
            List<R> rows, Function<List<R>, List<List<Tensor>>> forward, IntFunction<String> name, double tolerance) {
        return ScopedValue.where(IS_RUNNING, true).call(() -> checked(rows, forward, name, tolerance));
    }

    private static <R> Result checked(
            List<R> rows, Function<List<R>, List<List<Tensor>>> forward, IntFunction<String> name, double tolerance) {
        try {
            var alone = rows.stream()
                    .map(row -> forward.apply(List.of(row)).getFirst())
                    .toList();
            var beside = new ArrayList<>(forward.apply(rows));
            var same = new ArrayList<>(alone);
            if (rows.size() > 2) {
                beside.addAll(forward.apply(List.of(rows.getLast(), rows.getFirst())));
                same.add(alone.getLast());
                same.add(alone.getFirst());
            }
            boolean differ = false;
            for (int output = 0; output < alone.getFirst().size(); output++) {
                int each = output;
                double least = SMALL
                        * same.stream()
                                .mapToDouble(parts -> largest(parts.get(each)))
                                .max()
                                .orElse(0);
                for (int row = 0; row < same.size(); row++) {
                    var one = same.get(row).get(output);
                    var other = beside.get(row).get(output);
                    double largest = Math.max(least, Math.max(largest(one), largest(other)));
                    double apart = apart(one, other);
                    if (apart > tolerance * largest) {
                        return Result.dependent(
                                true,
                                "%s of a row alone is not what it is beside other rows, it differs by up to %.2g where the largest number is %.2g"
                                        .formatted(name.apply(output), apart, largest));
                    }
                    differ |= apart(one, same.getFirst().get(output)) > tolerance * largest;
                }
            }
            return differ
                    ? new Result(true, Optional.of(true), " were answered the same beside others and alone")
                    : Result.unknown("the model says the same of all rows that were tried");
        } catch (NoRowsException e) {
            return Result.dependent(false, e.getMessage());
        } catch (EngineException | BadInputException | InsufficientMemoryException | CancellationException e) {
            return Result.unknown("the model does not take the rows that were tried: " + e.getMessage());
        }
    }

    private static double largest(Tensor tensor) {
        return tensor.type() == ElementType.STRING
                ? 0
                : Arrays.stream(tensor.doubles())
                        .map(Math::abs)
                        .filter(Double::isFinite)
                        .max()
                        .orElse(0);
    }

    /// How far apart two tensors are at most; infinitely where they differ in more than finite
    /// numbers.
    private static double apart(Tensor one, Tensor other) {
        if (one.equals(other)) {
            return 0;
        }
        if (!one.toString().equals(other.toString()) || one.type() == ElementType.STRING) {
            return Double.POSITIVE_INFINITY;
        }
        var some = one.doubles();
        var others = other.doubles();
        return IntStream.range(0, some.length)
                .mapToDouble(i -> Double.compare(some[i], others[i]) == 0
                        ? 0
                        : Double.isFinite(some[i]) && Double.isFinite(others[i])
                                ? Math.abs(some[i] - others[i])
                                : Double.POSITIVE_INFINITY)
                .max()
                .orElse(0);
    }
}
