package dev.berth.command;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;

/// Log events as text: one line per event, and a stack trace below it.
///
/// Clients choose some of what is in a line. So control characters are escaped, as are the
/// characters that reorder text on a screen. An id that is not made of plain characters stands in
/// quotes. In a stack trace, only the line breaks of the trace itself are left.
final class PlainEvents extends EncoderBase<ILoggingEvent> {

    private static final byte[] NOTHING = {};
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final int LEVEL_WIDTH = 5;

    @Override
    public byte[] headerBytes() {
        return NOTHING;
    }

    /// The inference id stands beside the request's only where both were sent.
    @Override
    public byte[] encode(ILoggingEvent event) {
        var line = new StringBuilder(256);
        TIME.formatTo(Instant.ofEpochMilli(event.getTimeStamp()), line);
        var level = event.getLevel().toString();
        line.append(' ').append(level).repeat(' ', LEVEL_WIDTH - level.length()).append(" [");
        escape(event.getThreadName(), line);
        line.append(']');
        var ids = event.getMDCPropertyMap();
        var request = ids.get("request_id");
        var inference = ids.get("inference_id");
        if (request != null || inference != null) {
            line.append(" [");
            if (request != null) {
                appendId(request, line);
            }
            if (inference != null) {
                line.append(request == null ? "" : " ");
                appendId(inference, line);
            }
            line.append(']');
        }
        var logger = event.getLoggerName();
        line.append(' ');
        escape(logger.substring(logger.lastIndexOf('.') + 1), line);
        line.append(" - ");
        escape(event.getFormattedMessage(), line);
        line.append('\n');
        if (event.getThrowableProxy() != null) {
            line.append(ThrowableProxyUtil.asString(new Escaped(event.getThrowableProxy())));
        }
        return line.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] footerBytes() {
        return NOTHING;
    }

    private static void appendId(String id, StringBuilder line) {
        if (id.chars().allMatch(PlainEvents::isPlain)) {
            line.append(id);
        } else {
            line.append('"');
            escape(id.replace("\\", "\\\\").replace("\"", "\\\""), line);
            line.append('"');
        }
    }

    /// The comma joins the ids of a batch.
    private static boolean isPlain(int character) {
        return (character >= 'a' && character <= 'z')
                || (character >= 'A' && character <= 'Z')
                || (character >= '0' && character <= '9')
                || "._:/+=@-,".indexOf(character) >= 0;
    }

    private static void escape(String text, StringBuilder line) {
        if (text == null) {
            line.append("null");
            return;
        }
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (!isUnsafe(character)) {
                line.append(character);
                continue;
            }
            switch (character) {
                case '\n' -> line.append("\\n");
                case '\t' -> line.append("\\t");
                case '\r' -> {
                    // A line break of two characters is one.
                    if (i + 1 == text.length() || text.charAt(i + 1) != '\n') {
                        line.append("\\r");
                    }
                }
                default -> line.append("\\u%04x".formatted((int) character));
            }
        }
    }

    /// Control characters, line and paragraph separators, and what changes the direction of text
    /// (Unicode's Bidi_Control).
    private static boolean isUnsafe(char character) {
        if (character < 0x7f) {
            return character < ' ';
        }
        return character <= 0x9f
                || character == 0x061c
                || character == 0x200e
                || character == 0x200f
                || (character >= 0x2028 && character <= 0x202e)
                || (character >= 0x2066 && character <= 0x2069);
    }

    /// An exception whose messages can't be taken for lines of the log.
    private record Escaped(IThrowableProxy of) implements IThrowableProxy {

        @Override
        public String getMessage() {
            return of.getMessage() == null ? null : escaped(of.getMessage());
        }

        @Override
        public String getOverridingMessage() {
            return of.getOverridingMessage() == null ? null : escaped(of.getOverridingMessage());
        }

        @Override
        public String getClassName() {
            return of.getClassName();
        }

        @Override
        public StackTraceElementProxy[] getStackTraceElementProxyArray() {
            return of.getStackTraceElementProxyArray();
        }

        @Override
        public int getCommonFrames() {
            return of.getCommonFrames();
        }

        @Override
        public IThrowableProxy getCause() {
            return of.getCause() == null ? null : new Escaped(of.getCause());
        }

        @Override
        public IThrowableProxy[] getSuppressed() {
            var suppressed = of.getSuppressed();
            return suppressed == null
                    ? null
                    : Arrays.stream(suppressed).map(Escaped::new).toArray(IThrowableProxy[]::new);
        }

        @Override
        public boolean isCyclic() {
            return of.isCyclic();
        }

        private static String escaped(String text) {
            var line = new StringBuilder(text.length());
            escape(text, line);
            return line.toString();
        }
    }
}
