package dev.berth.spark;

import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.hooks.MediaType;
import dev.berth.inprocess.InProcessModel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The models of this executor's process. Each is loaded by the first task that needs it, while the
/// others wait, and stays until the process ends.
final class ExecutorModels {

    private static final Logger log = LoggerFactory.getLogger(ExecutorModels.class);

    private record Key(String artifact, Map<String, String> settings, int cores) {}

    private static final ConcurrentHashMap<Key, InProcessModel> MODELS = new ConcurrentHashMap<>();

    private ExecutorModels() {}

    /// @throws IllegalStateException where it can't be loaded; the next task tries again
    static InProcessModel get(Terms terms) {
        int cores = terms.cores() > 0 ? terms.cores() : cores(SparkEnv.get().conf());
        var model = MODELS.computeIfAbsent(new Key(terms.artifact(), terms.settings(), cores), ExecutorModels::load);
        requireType("contentType", terms.requestType(), model.requestTypes());
        requireType("accept", terms.responseType(), model.responseTypes());
        return model;
    }

    /// The cores that Spark has given to this executor. A standalone cluster where nothing is set,
    /// and `local`, give it all.
    private static int cores(SparkConf conf) {
        return conf.getInt("spark.executor.cores", Runtime.getRuntime().availableProcessors());
    }

    private static void requireType(String what, MediaType type, List<MediaType> types) {
        if (!types.isEmpty() && !types.contains(type.withoutParameters())) {
            throw new IllegalArgumentException(
                    "%s: found \"%s\", expected one of the model's: %s".formatted(what, type, types));
        }
    }

    private static InProcessModel load(Key key) {
        // As ./serve sets them: nothing is asked of the network.
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("OPT_OUT_TRACKING", "true");
        var settings = new HashMap<>(key.settings);
        settings.put("BERTH_MODEL_DIR", ArtifactPlace.local(key.artifact).toString());
        // Tasks wait as the jobs of batch transform do.
        settings.putIfAbsent("SAGEMAKER_BATCH", "true");
        try {
            long start = System.nanoTime();
            var model = InProcessModel.load(
                    Configuration.read(settings, Map.of(), Path.of("")).config(), key.cores);
            log.info(
                    "loaded {} in {} ms, for {} cores",
                    key.artifact,
                    (System.nanoTime() - start) / 1_000_000,
                    key.cores);
            return model;
        } catch (ConfigurationException e) {
            throw new IllegalStateException(String.join("\n", e.problems()), e);
        } catch (Exception e) {
            throw new IllegalStateException("%s: %s".formatted(key.artifact, e.getMessage()), e);
        }
    }
}
