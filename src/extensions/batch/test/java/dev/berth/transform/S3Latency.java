package dev.berth.transform;

import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/// Prints how many objects a second a job does whose S3 answers late. It is no test: it measures.
/// `tools/bench/README.md` says how it is run.
final class S3Latency {

    private S3Latency() {}

    /// @param args the latency in milliseconds, the number of objects, and how many requests run at
    ///   the same time
    public static void main(String[] args) throws Exception {
        var latency = Duration.ofMillis(Long.parseLong(args[0]));
        int objects = Integer.parseInt(args[1]);
        try (var container = TestServer.with(new TextHandler())
                        .set("SAGEMAKER_BATCH", "true")
                        .start();
                var s3 = S3Server.start().createBucket("jobs");
                var proxy = new FaultyProxy(s3.endpoint(), _ -> late(latency));
                var storage = Impatient.storage(proxy.endpoint())) {
            for (int i = 0; i < objects; i++) {
                s3.put("jobs", "in/%05d.txt".formatted(i), "some words\n");
            }
            var options = new EnumMap<JobOption, String>(JobFlags.of(
                    "--input s3://jobs/in/ --output s3://jobs/out --content-type text/plain --split-type Line "
                            + "--assemble-with Line --max-concurrent-transforms %s",
                    args[2]));
            var report = new JobRunner(TransformJob.read(storage, options, Map.of()), new Unwatched())
                    .run(container.uri("/"));
            System.out.printf(
                    "%s %s: %d of %d objects in %.1f s, %.1f objects/s%n",
                    latency,
                    report.status(),
                    report.tally().succeeded(),
                    objects,
                    report.seconds(),
                    report.tally().succeeded() / report.seconds());
        }
    }

    private static Fault late(Duration latency) {
        try {
            Thread.sleep(latency);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return new Fault.Pass();
    }
}
