package dev.berth.reliability;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Attacks a server and says whether it held. `tools/reliability/run --help` lists the parts and
/// options.
public final class Campaign {

    private static final List<Attacks.Case> ATTACKS =
            Stream.of(Attacks.all(), Floods.all()).flatMap(List::stream).toList();

    private static final String HELP = """
      tools/reliability/run [PART]... [OPTION]...

      Parts, all by default:
        fuzz      mutated and generated requests, with good ones among them whose answers are compared
        attacks   one aimed attack after another
        soak      mixed requests for a long time: memory must stay flat
        models    many models in one server: asked, loaded and unloaded at random by 16 clients
        faults    a stopped process, a full disk, no descriptors, little memory, a signal under load
        schedules what threads do in which order, without a server; alone, before its --seconds N for each
                  test (60), --seed S and --case TEXT. Needs Linux on x86-64

      Options:
        --short            about 5 minutes with a fixed seed; /ping may take 20 s, because CI machines are busy, and
                           attacks share servers
        --long             10 million fuzzed requests, 1 million in the soak, an hour of many models; hours
        --url URL          attack a server that runs already, such as http://localhost:8080, which serves model-artifact
        --image NAME       start servers in containers of this image, with --memory 1g --cpus 1; else ./serve starts them
        --requests N       requests of the fuzzer and of the soak (100,000)
        --seed S           of the fuzzer, of the soak and of the part models (1)
        --clients N        connections at the same time of the fuzzer and of the soak (8)
        --minutes N        of the part models (2); 50 models, and 10 models for 15 s in the short form
        --case TEXT        only the attacks and faults whose name contains TEXT; may be repeated
        --list             name the attacks and faults and end
        --model NAME       only this model for the fuzzer: MODELS; may be repeated
        --replay FILE      send a request that the fuzzer saved, and show the response
        --ping-limit S     the most seconds that /ping may take (1)

      It ends with 1 if an expectation was missed. Logs and failing requests are kept in target/reliability.
      """;

    /// What the command line asks for.
    private static final class Options {
        private final List<String> parts = new ArrayList<>();
        private final List<String> cases = new ArrayList<>();
        private final List<Seeds.Model> models = new ArrayList<>();
        private URI url;
        private String image;
        private String replay;
        private long requests = 100_000;
        private long soakRequests = -1;
        private long seed = 1;
        private int clients = 8;
        private int minutes = 2;
        private double pingLimit = 1;
        private boolean isShort;
        private boolean lists;

        boolean has(String part) {
            return parts.isEmpty() || parts.contains(part);
        }

        boolean isChosen(String name) {
            return cases.isEmpty() || cases.stream().anyMatch(name::contains);
        }
    }

    private Campaign() {}

    public static void main(String[] arguments) throws Exception {
        if (List.of(arguments).contains("--help")) {
            System.out.print(HELP.replace("MODELS", Seeds.names(Fuzz.MODELS)));
            return;
        }
        var options = options(arguments);
        if (options.lists) {
            Stream.concat(ATTACKS.stream(), Faults.all().stream()).forEach(one -> System.out.println(one.name()));
            return;
        }
        var place = new Target.Place(options.url, options.image);
        if (options.replay != null) {
            Fuzz.replay(place, options.replay);
            return;
        }
        var limits = new Attacks.Limits(Duration.ofMillis((long) (1000 * options.pingLimit)));
        var report = new Report();
        Report.header();
        if (options.has("attacks")) {
            strike(ATTACKS, options, place, limits, report);
        }
        if (options.has("faults")) {
            strike(Faults.all(), options, place, limits, report);
        }
        if (options.has("fuzz")) {
            new Fuzz(place, options.seed, options.clients, limits).run(options.models, options.requests, report);
        }
        if (options.has("soak")) {
            Soak.run(
                    place,
                    options.soakRequests < 0 ? options.requests : options.soakRequests,
                    options.seed,
                    options.clients,
                    limits,
                    report);
        }
        if (options.has("models")) {
            ManyModels.run(
                    place,
                    options.isShort
                            ? ManyModels.Plan.quick(options.seed)
                            : ManyModels.Plan.of(options.minutes, options.seed),
                    limits,
                    report);
        }
        System.exit(report.end() ? 0 : 1);
    }

    private static void strike(
            List<Attacks.Case> cases, Options options, Target.Place place, Attacks.Limits limits, Report report)
            throws Exception {
        var chosen = cases.stream()
                .filter(one -> options.isChosen(one.name()) && (one.isShort() || !options.isShort))
                .toList();
        try (var servers = new Servers(place, options.isShort)) {
            for (int i = 0; i < chosen.size(); i++) {
                // In the short form the next server starts while this one is attacked. The long form
                // measures a quiet machine, and an unwatched case is about the start itself.
                if (options.isShort
                        && i + 1 < chosen.size()
                        && chosen.get(i + 1).isWatched()
                        && chosen.get(i + 1).runsAt(place)) {
                    Thread.ofVirtual().start(servers.start(chosen.get(i + 1)));
                }
                Attacks.run(chosen.get(i), servers, place, limits, report);
            }
        }
    }

    private static Options options(String[] arguments) {
        var options = new Options();
        for (int i = 0; i < arguments.length; i++) {
            var name = arguments[i];
            switch (name) {
                case "fuzz", "attacks", "soak", "models", "faults" -> options.parts.add(name);
                case "--list" -> options.lists = true;
                case "--short" -> {
                    options.isShort = true;
                    options.requests = 25_000;
                    options.soakRequests = 8_000;
                    options.pingLimit = 20;
                }
                case "--long" -> {
                    options.requests = 10_000_000;
                    options.soakRequests = 1_000_000;
                    options.minutes = 60;
                }
                default -> {
                    if (++i == arguments.length) {
                        throw usage(name + ": found no such part, and no option with a value");
                    }
                    set(options, name, arguments[i]);
                }
            }
        }
        return options;
    }

    private static void set(Options options, String name, String value) {
        try {
            switch (name) {
                case "--url" -> options.url = URI.create(value);
                case "--image" -> options.image = value;
                case "--requests" -> options.requests = Long.parseLong(value);
                case "--seed" -> options.seed = Long.parseLong(value);
                case "--clients" -> options.clients = Integer.parseInt(value);
                case "--minutes" -> options.minutes = Integer.parseInt(value);
                case "--case" -> options.cases.add(value);
                case "--model" -> options.models.add(Seeds.Model.valueOf(value.toUpperCase(Locale.ROOT)));
                case "--replay" -> options.replay = value;
                case "--ping-limit" -> options.pingLimit = Double.parseDouble(value);
                default -> throw usage(name + ": found an unknown option");
            }
        } catch (IllegalArgumentException e) {
            throw usage("%s: found %s, which it can't be".formatted(name, value));
        }
    }

    private static RuntimeException usage(String problem) {
        System.err.println("tools/reliability/run: " + problem + "; --help lists all");
        System.exit(2);
        return new IllegalStateException(problem);
    }
}
