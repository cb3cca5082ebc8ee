package dev.berth.handler.image;

import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.handler.task.TaskHandler;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// The model of one accelerator: pictures in, the numbers of its one output for each picture out.
///
/// On a CPU each picture goes by itself: a batch gains nothing there, and int8 scales a whole
/// tensor at once, so that a neighbour would change a picture's scores.
public final class ImageModel {

    private static final int MOST_OF_A_FORWARD = 64;

    private record Loaded(Graph model, int batch) {}

    private final ImageArtifact artifact;
    private final String output;
    private final boolean dynamic;
    private final boolean oneByOne;
    private final Tensor black;
    private final List<Loaded> files;

    /// @param graphs a copy of each file of the artifact
    ImageModel(ImageArtifact artifact, Accelerator accelerator, List<Graph> graphs) {
        var size = artifact.preparation().size();
        this.artifact = artifact;
        this.output = artifact.outputs().getFirst();
        this.dynamic = artifact.shapes().isDynamic();
        this.oneByOne = accelerator instanceof Accelerator.Cpu;
        this.black = Tensor.of(new float[3 * size.height() * size.width()], 3, size.height(), size.width());
        this.files = IntStream.range(0, graphs.size())
                .mapToObj(i -> new Loaded(
                        graphs.get(i), artifact.shapes().files().get(i).batch()))
                .toList();
    }

    /// Runs each shape once, or twice where any number of pictures will do: the engine compiles a
    /// graph on its first two calls. Then two pictures together.
    void warmUp() {
        if (dynamic) {
            forward(List.of(black));
            forward(List.of(black));
        } else {
            files.forEach(file -> run(file, List.of(black)));
        }
        if (dynamic || files.getLast().batch > 1) {
            var noise = new Random(1).doubles(black.size(), -1, 1).toArray();
            TaskHandler.requireIndependence(
                    artifact,
                    List.of(black, Tensor.of(noise, black.shape()).as(ElementType.FLOAT32)),
                    pictures -> run(fitting(pictures.size()), pictures));
        }
    }

    /// The output of the model for each picture.
    List<float[]> forward(List<Tensor> pictures) {
        int most = !dynamic ? files.getLast().batch : oneByOne ? 1 : MOST_OF_A_FORWARD;
        var answers = new ArrayList<float[]>(pictures.size());
        for (int from = 0; from < pictures.size(); from += most) {
            var some = pictures.subList(from, Math.min(from + most, pictures.size()));
            answers.addAll(run(fitting(some.size()), some));
        }
        return answers;
    }

    private Loaded fitting(int count) {
        return files.stream().filter(file -> file.batch >= count).findFirst().orElseThrow();
    }

    private List<float[]> run(Loaded file, List<Tensor> pictures) {
        var batch = new ArrayList<>(pictures);
        if (!dynamic) {
            batch.addAll(Collections.nCopies(file.batch - pictures.size(), black));
        }
        var found = TaskHandler.outputs(file.model, List.of(Tensor.stack(batch)), List.of(output), Integer.MAX_VALUE)
                .getFirst();
        if (found.type() != ElementType.FLOAT32 || found.rank() != 2 || found.shape()[0] != batch.size()) {
            throw new EngineException("%s: found %s, expected float32[%d, …]".formatted(output, found, batch.size()));
        }
        return found.unstack().subList(0, pictures.size()).stream()
                .map(Tensor::floats)
                .toList();
    }
}
