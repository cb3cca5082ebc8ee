package dev.berth.testing;

import java.time.Duration;
import java.util.Locale;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/// How all tests wait: often, and long enough for a machine that does something else as well. They
/// run in the language that the server has everywhere. JUnit finds this class.
public final class Patience implements LauncherSessionListener {

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultTimeout(Duration.ofMinutes(5));
    Locale.setDefault(Locale.ENGLISH);
  }
}
