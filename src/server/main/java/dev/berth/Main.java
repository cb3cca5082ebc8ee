package dev.berth;

import dev.berth.command.Commands;
import dev.berth.command.OrderlyStop;
import java.nio.file.Path;
import java.util.Locale;

/// Where the process starts: the only place that reads the environment and ends the process.
///
/// Exit codes: 0 when stopped, after `--help` and after a check that found nothing wrong; 1 when
/// the server can't start or the check found problems; 2 when it was told something wrong; 3 when
/// it did not stop in time.
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        // Before all else, as a signal may come at any time.
        var stop = OrderlyStop.onSignals();
        // That of the image, so that numbers in headers and files have the digits 0 to 9 everywhere, and
        // hooks compute the same.
        Locale.setDefault(Locale.ENGLISH);
        var home = Path.of(System.getProperty("berth.home", "."));
        int code = Commands.run(System.getenv(), home, stop, args);
        stop.withdraw();
        System.exit(code);
    }
}
