package dev.berth.spark;

import dev.berth.hooks.MediaType;
import java.io.Serializable;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/// What an executor must know to ask the model. Sent to it with each task.
///
/// @param artifact where the model artifact is, as the user wrote it
/// @param settings of the server, by the names of their environment variables
/// @param cores of an executor; 0: as Spark's configuration says
/// @param batchSize rows of a request; 0: as many as `predictFn` gets at once
record Terms(String artifact, Map<String, String> settings, int cores, String contentType, String accept, int batchSize)
        implements Serializable {

    Terms {
        // A copy that Java can serialise, whatever the map was.
        settings = new TreeMap<>(settings);
    }

    MediaType requestType() {
        return MediaType.parse(contentType).orElseThrow();
    }

    MediaType responseType() {
        return MediaType.parse(accept).orElseThrow();
    }

    OptionalInt givenBatchSize() {
        return batchSize == 0 ? OptionalInt.empty() : OptionalInt.of(batchSize);
    }
}
