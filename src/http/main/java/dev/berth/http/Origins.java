package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import io.javalin.http.Context;
import java.net.URI;
import java.util.regex.Pattern;

/// Refuses what a page of somebody else has a browser ask: to load or unload models, or to open a
/// socket. A browser names the page in `Origin` (RFC 6454), and other clients send none.
///
/// A name that an attacker points to this machine is in `Origin` and in `Host`. So a server that
/// only its own machine can reach knows no other names than the machine's own.
///
/// @param isLocal whether only this machine can connect
public record Origins(boolean isLocal) {

    private static final Pattern LOOPBACK =
            Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

    /// @throws ServingException `FORBIDDEN`
    public void requireOwn(Context ctx) {
        var origin = ctx.header("Origin");
        var host = ctx.header("Host");
        if (origin == null || (host != null && isOwn(origin, host))) {
            return;
        }
        throw ErrorType.FORBIDDEN.because(
                "Origin: found %s, expected none or this server's own, http://%s; no page from elsewhere may ask this"
                        .formatted(CallerText.quoted(origin), host == null ? "…" : CallerText.cut(host, 100)));
    }

    private boolean isOwn(String origin, String host) {
        return host.equalsIgnoreCase(authority(origin))
                && (!isLocal || LOOPBACK.matcher(host).matches());
    }

    private static String authority(String origin) {
        try {
            return URI.create(origin).getRawAuthority();
        } catch (IllegalArgumentException _) {
            return null;
        }
    }
}
