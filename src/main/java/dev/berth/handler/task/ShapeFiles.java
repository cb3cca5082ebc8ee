package dev.berth.handler.task;

import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Loads the files of an artifact, one for each shape or one for all.
public final class ShapeFiles {

  private ShapeFiles() {}

  /// A copy of each file on each accelerator, in the order of the files.
  ///
  /// File by file, because the Neuron runtime gives each file that is loaded to the core that has
  /// the fewest: so the copies of a file are on different cores, and workers that run the same
  /// shape do not wait for each other.
  ///
  /// @throws EngineException when one can't be loaded; then none stays loaded
  public static Map<Accelerator, List<Graph>> load(
      List<Path> files, List<Accelerator> accelerators) {
    var graphs = new LinkedHashMap<Accelerator, List<Graph>>();
    accelerators.forEach(accelerator -> graphs.put(accelerator, new ArrayList<>()));
    try {
      for (var file : files) {
        graphs.forEach((accelerator, loaded) -> loaded.add(Graph.load(file, accelerator)));
      }
    } catch (RuntimeException e) {
      graphs.values().forEach(loaded -> loaded.forEach(Graph::close));
      throw e;
    }
    return graphs;
  }
}
