package dev.berth.testing;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/// How all tests wait: often, and long enough for a machine that does something else as well. They
/// run in the language that the server has everywhere. JUnit finds this class.
///
/// A test that fails says so within a minute: no wait takes longer unless others keep the machine
/// busy, and what tests close ends what it waits for ([TestServer#close], [TestThreads#close]). For
/// what blocks nevertheless there are JUnit's limits in `junit-platform.properties`.
public final class Patience implements LauncherSessionListener, TestExecutionListener {

    private static final Duration CALM = Duration.ofSeconds(40);
    private static final int MOST_TIMES = 7;

    private boolean hasRunTests;

    /// How long a test waits for what takes seconds. Where the machine has several times as much to
    /// do as it can, that takes as many times as long.
    public static Duration limit() {
        var machine = ManagementFactory.getOperatingSystemMXBean();
        double load = machine.getSystemLoadAverage() / machine.getAvailableProcessors();
        return CALM.multipliedBy(Math.clamp(Math.round(load), 1, MOST_TIMES));
    }

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Locale.setDefault(Locale.ENGLISH);
        session.getLauncher().registerTestExecutionListeners(this);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        hasRunTests = true;
        Awaitility.setDefaultTimeout(limit());
    }

    /// Ends processes of tests that ran out of time. A session without tests is that of Maven itself,
    /// which looks for tests: its processes are the tests of other modules.
    @Override
    public void launcherSessionClosed(LauncherSession session) {
        if (hasRunTests) {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }
}
