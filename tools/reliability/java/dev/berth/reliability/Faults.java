package dev.berth.reliability;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;

/// What machines do to a server: they stop it, starve it, or end it. Run as attacks are.
final class Faults {

    private Faults() {}

    static List<Attacks.Case> all() {
        var qa = Target.Launch.of(Seeds.Model.QA);
        var impatient = qa.with("--timeout", "20");
        var pictures = Target.Launch.of(Seeds.Model.PICTURES);
        return List.of(
                Attacks.bare("fault-stopped-process", qa, Faults::stopAndGoOn),
                Attacks.bare("fault-sigterm-under-load", qa, Faults::endUnderLoad),
                Attacks.own("fault-full-disk", pictures.with(Target.Trait.FULL_DISK), a -> {
                            for (var payload : Seeds.Model.PICTURES.good()) {
                                a.post(20, payload);
                            }
                        })
                        .inContainer(),
                Attacks.own(
                        "fault-idle-connections",
                        qa.with(Target.Trait.FEW_DESCRIPTORS),
                        a -> a.hold(400, Seeds.Model.QA.good().getFirst().request())),
                Attacks.own(
                        "fault-one-processor",
                        qa.with(Target.Trait.ONE_PROCESSOR),
                        a -> a.post(20, Bombs.context(300))),
                Attacks.own("fault-400-mb", impatient.memory("400m"), Faults::crowd)
                        .inContainer(),
                Attacks.own("fault-600-mb", impatient.memory("600m"), Faults::crowd)
                        .inContainer()
                        .inLongForm(),
                Attacks.own("fault-1-gb", impatient, Faults::crowd).inContainer());
    }

    /// Everything at the same time that a small container may get.
    private static void crowd(Attacks attack) throws Exception {
        var waiting = new ArrayList<Future<?>>();
        for (var payload : List.of(
                Bombs.rows(50_000),
                Bombs.context(300),
                Bombs.question("a", "b c ".repeat(500_000)),
                Bombs.json("[" + "{},".repeat(300_000) + "{}]"),
                Seeds.Model.QA.good().getLast())) {
            waiting.addAll(attack.start(8, List.of(payload.request())));
        }
        for (var future : waiting) {
            future.get();
        }
    }

    /// In the middle of requests. Those wait for it, and are answered.
    private static void stopAndGoOn(Attacks attack) throws Exception {
        attack.awaitReady();
        var waiting = attack.start(
                50, Collections.nCopies(4, Seeds.Model.QA.good().getFirst().request()));
        attack.target().signal("STOP");
        Thread.sleep(3_000);
        attack.target().signal("CONT");
        for (var future : waiting) {
            future.get();
        }
        attack.expectAnswered(200);
        attack.row().expect("the process has ended", attack.target().isAlive());
    }

    /// Every request that was taken is answered in full: with its answer, or 503.
    private static void endUnderLoad(Attacks attack) throws Exception {
        attack.awaitReady();
        var waiting = attack.start(
                50, Collections.nCopies(4, Seeds.Model.QA.good().getFirst().request()));
        attack.expectEnd();
        for (var future : waiting) {
            future.get();
        }
    }
}
