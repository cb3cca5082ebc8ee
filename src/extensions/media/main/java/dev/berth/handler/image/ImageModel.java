package dev.berth.handler.image;

import dev.berth.artifact.Shapes;
import dev.berth.engine.Graph;
import dev.berth.handler.task.RowOutputs;
import dev.berth.handler.task.TaskHandler;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Gatherers;

/// The model of one accelerator: pictures in, the numbers of its one output for each picture out.
///
/// On a CPU each picture goes by itself: a batch gains nothing there, and int8 scales a whole
/// tensor at once, so that a neighbour would change a picture's scores.
public final class ImageModel {

    private static final int MOST_OF_A_FORWARD = 64;

    private final ImageArtifact artifact;
    private final List<Graph> graphs;
    private final boolean dynamic;
    private final int most;
    private final Tensor black;

    /// @param graphs a copy of each file of the artifact
    ImageModel(ImageArtifact artifact, Accelerator accelerator, List<Graph> graphs) {
        var size = artifact.preparation().size();
        this.artifact = artifact;
        this.graphs = graphs;
        this.dynamic = artifact.shapes().isDynamic();
        this.most =
                !dynamic ? artifact.shapes().rows(1) : accelerator instanceof Accelerator.Cpu ? 1 : MOST_OF_A_FORWARD;
        this.black = Tensor.of(new float[3 * size.height() * size.width()], 3, size.height(), size.width());
    }

    /// Runs each shape once, or twice where any number of pictures will do: the engine compiles a
    /// graph on its first two calls. Then two pictures together.
    void warmUp() {
        var batches = dynamic
                ? List.of(1, 1)
                : artifact.shapes().files().stream().map(Shapes.Shape::batch).toList();
        batches.forEach(count -> run(Collections.nCopies(count, black)));
        if (dynamic || most > 1) {
            var noise = new Random(1).doubles(black.size(), -1, 1).toArray();
            TaskHandler.requireIndependence(
                    artifact, List.of(black, Tensor.of(noise, black.shape()).as(ElementType.FLOAT32)), this::run);
        }
    }

    /// The output of the model for each picture.
    List<float[]> forward(List<Tensor> pictures) {
        return pictures.stream()
                .gather(Gatherers.windowFixed(most))
                .flatMap(some -> run(some).stream())
                .toList();
    }

    private List<float[]> run(List<Tensor> pictures) {
        int file = artifact.shapes().fitting(pictures.size(), 1);
        var batch = new ArrayList<>(pictures);
        if (!dynamic) {
            int count = artifact.shapes().files().get(file).batch();
            batch.addAll(Collections.nCopies(count - pictures.size(), black));
        }
        var names = artifact.outputs();
        var found = TaskHandler.outputs(graphs.get(file), List.of(Tensor.stack(batch)), names, Integer.MAX_VALUE);
        return new RowOutputs(found, batch.size(), 1).ofRows(names.getFirst(), pictures.size());
    }
}
