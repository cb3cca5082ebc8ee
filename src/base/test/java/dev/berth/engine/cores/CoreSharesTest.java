package dev.berth.engine.cores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.engine.EngineException;
import java.lang.Thread.State;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CoreSharesTest {

    private final CoreShares shares = new CoreShares();

    @ParameterizedTest
    @CsvSource({"0,1", "1,1", "2,2", "4,4", "1000,8"})
    void aForwardThatIsAloneHasTheCoresThatItIsWorth(int most, int share) {
        assertThat(shares.begin(8, most, HelperThreads.LIBGOMP).cores).isEqualTo(share);
    }

    @Test
    void oneCoreIsTheCallersAndSeveralAreATeams() {
        assertThat(shares.begin(3, 1, HelperThreads.LIBGOMP).<Thread>run(_ -> Thread.currentThread()))
                .isEqualTo(Thread.currentThread());
        var thread = shares.begin(8, 2, HelperThreads.LIBGOMP).run(_ -> Thread.currentThread());
        assertThat(thread).isNotEqualTo(Thread.currentThread());
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void enginesWithHelpersOfTheirOwnRunOnTheCallersThread() {
        var team = shares.begin(3, 2, HelperThreads.ENGINE);
        assertThat(team.cores).isEqualTo(2);
        assertThat(team.<Thread>run(_ -> Thread.currentThread())).isEqualTo(Thread.currentThread());
    }

    @Test
    void forwardsAtTheSameTimeHaveTheirShares() {
        assertThat(shares.begin(8, 3, HelperThreads.LIBGOMP).cores).isEqualTo(3);
        assertThat(shares.begin(8, 100, HelperThreads.LIBGOMP).cores).isEqualTo(4);
        assertThat(shares.begin(8, 100, HelperThreads.LIBGOMP).cores)
                .as("the rest is the first team's")
                .isEqualTo(1);
    }

    @Test
    void aForwardWaitsUntilACoreIsFree() throws Exception {
        var team = shares.begin(2, 2, HelperThreads.LIBGOMP);
        var next = new CompletableFuture<CoreShares.Team>();
        var caller = Thread.ofPlatform().start(() -> next.complete(shares.begin(2, 2, HelperThreads.LIBGOMP)));
        await().until(() -> caller.getState() == State.TIMED_WAITING || next.isDone());

        team.close();

        assertThat(next.get()).as("the same team, whoever calls").isEqualTo(team);
    }

    @Test
    void aForwardThatNoCallerWaitsForDoesNotBegin() throws Exception {
        var team = shares.begin(2, 2, HelperThreads.ENGINE);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> shares.begin(2, 2, HelperThreads.ENGINE)).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
        team.close();
        assertThat(once(2)).as("it has taken nothing").isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(HelperThreads.class)
    void aForwardThatDoesNotEndKeepsNoCoreFromOthers(HelperThreads helpers) {
        var endless = shares.begin(2, 2, helpers);
        for (int i = 0; i < 20; i++) {
            once(2);
        }
        var one = shares.begin(2, 2, helpers);
        var other = shares.begin(2, 2, helpers);
        assertThat(one.cores + other.cores).as("all cores are theirs").isEqualTo(2);
        one.close();
        other.close();
        endless.close();
        assertThat(shares.begin(2, 2, helpers).cores)
                .as("no core was given back twice")
                .isPositive();
        assertThat(shares.begin(2, 2, helpers).cores).isPositive();
    }

    @Test
    void whereForwardsMostlyHaveCompanyTheNextLeavesHalf() {
        var other = shares.begin(4, 1, HelperThreads.LIBGOMP);
        assertThat(once(4)).isEqualTo(2);
        for (int i = 0; i < 20; i++) {
            once(4);
        }
        other.close();
        assertThat(once(4)).as("the other may be between two forwards").isEqualTo(2);
        for (int i = 0; i < 20; i++) {
            once(4);
        }
        assertThat(once(4)).as("it is not").isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource({"4,2,3", "8,4,5"})
    void otherTeamsLeaveTheFirstMoreThanHalf(int cores, int others, int left) {
        var one = shares.begin(cores, 2, HelperThreads.LIBGOMP);
        var two = shares.begin(cores, cores, HelperThreads.LIBGOMP);
        assertThat(two.cores).isEqualTo(others);
        one.close();
        two.close();
        assertThat(once(cores)).as("the second team keeps its helpers").isEqualTo(left);
    }

    @Test
    void aTeamThatShrinksLeavesCoresToOthers() {
        assertThat(once(8)).isEqualTo(8);
        assertThat(shares.begin(8, 3, HelperThreads.LIBGOMP).cores).isEqualTo(3);
        assertThat(shares.begin(8, 8, HelperThreads.LIBGOMP).cores).isEqualTo(4);
    }

    @Test
    void nothingOfTheCallerStaysWithATeam() {
        var loader = new ClassLoader() {};
        Thread.currentThread().setContextClassLoader(loader);
        assertThat(shares.begin(2, 2, HelperThreads.LIBGOMP)
                        .<ClassLoader>run(_ -> Thread.currentThread().getContextClassLoader()))
                .isNotEqualTo(loader);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatAForwardThrowsIsTheCallers(int cores) {
        var team = shares.begin(2, cores, HelperThreads.LIBGOMP);
        var problem = new EngineException("refused");
        var error = new OutOfMemoryError("none left");
        assertThatThrownBy(() -> team.run(_ -> {
                    throw problem;
                }))
                .isSameAs(problem);
        assertThatThrownBy(() -> team.run(_ -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(team.<String>run(_ -> "as before")).isEqualTo("as before");
    }

    @Test
    void anInterruptWaitsForTheForward() throws Exception {
        var begun = new CompletableFuture<Void>();
        var mayEnd = new CompletableFuture<String>();
        var found = new CompletableFuture<String>();
        var team = shares.begin(2, 2, HelperThreads.LIBGOMP);
        var caller = Thread.ofPlatform()
                .start(() -> found.complete(team.run(_ -> {
                            begun.complete(null);
                            return mayEnd.join();
                        })
                        + Thread.currentThread().isInterrupted()));
        begun.join();

        caller.interrupt();
        mayEnd.complete("done, interrupted: ");

        assertThat(found.get()).isEqualTo("done, interrupted: true");
    }

    private int once(int cores) {
        try (var team = shares.begin(cores, Integer.MAX_VALUE, HelperThreads.LIBGOMP)) {
            return team.cores;
        }
    }
}
