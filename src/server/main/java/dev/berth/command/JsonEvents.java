package dev.berth.command;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import dev.berth.content.Json;
import java.time.Instant;
import java.util.LinkedHashMap;

/// Log events as JSON, one object a line. The ids of a request and the fields of an event are
/// members beside the message, so that a query such as CloudWatch's `filter status >= 500` finds
/// them by name; Logback's own JSON has them in lists of objects.
final class JsonEvents extends LayoutBase<ILoggingEvent> {

    @Override
    public String doLayout(ILoggingEvent event) {
        var members = new LinkedHashMap<String, Object>();
        members.put("timestamp", Instant.ofEpochMilli(event.getTimeStamp()).toString());
        members.put("level", event.getLevel().toString());
        members.put("thread", event.getThreadName());
        members.put("logger", event.getLoggerName());
        members.put("message", event.getFormattedMessage());
        if (event.getThrowableProxy() != null) {
            members.put("stack", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        // Hooks may have names of their own here, which must not replace those above.
        event.getMDCPropertyMap().forEach(members::putIfAbsent);
        if (event.getKeyValuePairs() != null) {
            event.getKeyValuePairs().forEach(pair -> members.putIfAbsent(pair.key, plain(pair.value)));
        }
        return Json.write(members) + "\n";
    }

    /// A hook's own value as text: Jackson would keep its class, and a model could not be unloaded.
    private static Object plain(Object value) {
        return value instanceof Number || value instanceof Boolean ? value : String.valueOf(value);
    }
}
