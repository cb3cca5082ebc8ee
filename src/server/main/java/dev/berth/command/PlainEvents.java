package dev.berth.command;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.StringJoiner;
import java.util.regex.Pattern;

/// Log events as text: one line per event, and a stack trace below it.
///
/// Clients choose some of what is in a line. So control characters are escaped, as are the
/// characters that reorder text on a screen. An id that is not made of plain characters stands in
/// quotes. In a stack trace, only the line breaks of the trace itself are left.
final class PlainEvents extends LayoutBase<ILoggingEvent> {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final int LEVEL_WIDTH = 5;
    private static final List<String> IDS = List.of("request_id", "inference_id");

    /// The comma joins the ids of a batch.
    private static final Pattern PLAIN = Pattern.compile("[\\w.:/+=@,-]*");

    /// Control characters, line and paragraph separators, and what changes the direction of text
    /// (Unicode's Bidi_Control). A line break of two characters is one.
    private static final Pattern UNSAFE =
            Pattern.compile("\r\n|[\\p{Cc}\\p{Zl}\\p{Zp}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]");

    @Override
    public String doLayout(ILoggingEvent event) {
        var line = new StringBuilder(256);
        TIME.formatTo(Instant.ofEpochMilli(event.getTimeStamp()), line);
        var level = event.getLevel().toString();
        line.append(' ').append(level).repeat(' ', LEVEL_WIDTH - level.length()).append(" [");
        line.append(event.getThreadName()).append(']');
        appendIds(event, line);
        var logger = event.getLoggerName();
        line.append(' ').append(logger, logger.lastIndexOf('.') + 1, logger.length());
        line.append(" - ").append(event.getFormattedMessage());
        var text = new StringBuilder(escaped(line)).append('\n');
        appendTrace(event.getThrowableProxy(), "", ThrowableProxyUtil.REGULAR_EXCEPTION_INDENT, text);
        return text.toString();
    }

    /// That of the request, and the inference id where one was sent.
    private static void appendIds(ILoggingEvent event, StringBuilder line) {
        var ids = new StringJoiner(" ", " [", "]").setEmptyValue("");
        for (var name : IDS) {
            var id = event.getMDCPropertyMap().get(name);
            if (id != null) {
                ids.add(quoted(id));
            }
        }
        line.append(ids);
    }

    private static String quoted(String id) {
        return PLAIN.matcher(id).matches() ? id : '"' + id.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /// As Logback writes it, but for messages of several lines.
    private static void appendTrace(IThrowableProxy thrown, String before, int indent, StringBuilder text) {
        if (thrown == null) {
            return;
        }
        var message = new StringBuilder();
        ThrowableProxyUtil.subjoinExceptionMessage(message, thrown);
        ThrowableProxyUtil.indent(text, indent - 1);
        text.append(before).append(escaped(message)).append('\n');
        ThrowableProxyUtil.subjoinSTEPArray(text, indent, thrown);
        for (var suppressed : thrown.getSuppressed()) {
            appendTrace(suppressed, "Suppressed: ", indent + ThrowableProxyUtil.SUPPRESSED_EXCEPTION_INDENT, text);
        }
        appendTrace(thrown.getCause(), "Caused by: ", indent, text);
    }

    /// Most text is plain ASCII, which is far faster to see than to match.
    private static String escaped(CharSequence text) {
        if (text.chars().allMatch(c -> ' ' <= c && c <= '~')) {
            return text.toString();
        }
        return UNSAFE.matcher(text).replaceAll(unsafe -> switch (unsafe.group()) {
            case "\n", "\r\n" -> "\\\\n";
            case "\t" -> "\\\\t";
            case "\r" -> "\\\\r";
            case String other -> "\\\\u%04x".formatted((int) other.charAt(0));
        });
    }
}
