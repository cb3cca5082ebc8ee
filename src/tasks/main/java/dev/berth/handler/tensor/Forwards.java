package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.content.TensorPredictions;
import dev.berth.engine.Graph;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Runs records through the model, as few forwards as may be, and gives each record its part of what the
/// model returned. For any thread.
final class Forwards implements AutoCloseable {

    private final List<String> outputs;
    private final SharedGraphs models;
    private final RowAxes axes;
    private final Batching batching;
    private final KnownTensors known;

    /// That of each accelerator. A dict may have names only once one of them has returned it.
    private final Set<Graph> loaded = ConcurrentHashMap.newKeySet();

    Forwards(TensorArtifact artifact, RowAxes axes, Batching batching, KnownTensors known) {
        this.outputs = artifact.outputs();
        this.models = new SharedGraphs(artifact.file(), outputs);
        this.axes = axes;
        this.batching = batching;
        this.known = known;
    }

    Graph on(Accelerator accelerator) {
        var graph = models.on(accelerator);
        loaded.add(graph);
        return graph;
    }

    /// Once for each shape among the records, or for each record where these are not known to be independent.
    ///
    /// @throws BadInputException when the model refuses the shape, type or values of these tensors
    List<List<Tensor>> run(List<List<Tensor>> records, Graph model) {
        var alike = IntStream.range(0, records.size())
                .boxed()
                .collect(Collectors.groupingBy(
                        i -> isMerged(records.get(i)) ? Rows.of(records.get(i)).kind() : i,
                        LinkedHashMap::new,
                        Collectors.toList()));
        var predictions = new ArrayList<List<Tensor>>(records);
        for (var indexes : alike.values()) {
            var rows = forward(indexes.stream().map(records::get).toList(), model);
            for (int i = 0; i < rows.size(); i++) {
                predictions.set(indexes.get(i), rows.get(i));
            }
        }
        return predictions;
    }

    private boolean isMerged(List<Tensor> record) {
        return record instanceof Rows rows
                ? rows.isMerged()
                : batching.isMerged(record.getFirst().rank());
    }

    private List<List<Tensor>> forward(List<List<Tensor>> records, Graph model) {
        boolean isWhole = records.getFirst() instanceof Rows whole && !whole.isMerged();
        List<Tensor> returned;
        try {
            returned = known.forward(isWhole ? records.getFirst() : RowAxes.columns(records), model);
        } catch (InsufficientMemoryException e) {
            return List.of(halved(records, model).orElseThrow(() -> e));
        }
        var names = names(returned);
        if (isWhole) {
            known.returned(names, returned, 1);
            return List.of(returned);
        }
        if (axes.haveConstants(names)) {
            // No record is several rows then.
            var parts = axes.parts(returned, names, records.size());
            known.returned(names, parts.getFirst(), 0);
            return parts;
        }
        int count = records.stream().mapToInt(record -> Rows.of(record).count()).sum();
        var rows = axes.rows(returned, names, count);
        known.returned(names, rows, 1);
        var parts = new ArrayList<List<Tensor>>(records.size());
        int from = 0;
        for (var record : records) {
            int to = from + Rows.of(record).count();
            var part = new Rows(rows, true).part(from, to);
            parts.add(record instanceof Rows ? part : RowAxes.unstacked(part).getFirst());
            from = to;
        }
        return parts;
    }

    /// Tries a block of rows by halves. Of several records each is tried alone by the server.
    private Optional<List<Tensor>> halved(List<List<Tensor>> records, Graph model) {
        if (records.size() > 1 || !(records.getFirst() instanceof Rows rows) || !rows.isMerged() || rows.count() < 2) {
            return Optional.empty();
        }
        int half = rows.count() / 2;
        return Optional.of(Rows.joined(Stream.of(rows.part(0, half), rows.part(half, rows.count()))
                .map(part -> forward(List.of(part), model).getFirst())
                .toList()));
    }

    /// Those of what the model returned.
    List<String> names(List<Tensor> returned) {
        var names = outputNames();
        return IntStream.range(0, returned.size())
                .mapToObj(i -> TensorPredictions.name(names, i))
                .toList();
    }

    /// Those of `model.json`, else those of the dict that the model has returned.
    List<String> outputNames() {
        return outputs.isEmpty()
                ? loaded.stream()
                        .map(Graph::outputNames)
                        .filter(names -> !names.isEmpty())
                        .findFirst()
                        .orElse(List.of())
                : outputs;
    }

    @Override
    public void close() {
        models.close();
    }
}
