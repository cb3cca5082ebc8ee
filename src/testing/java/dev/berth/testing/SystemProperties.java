package dev.berth.testing;

import java.util.HashMap;
import java.util.Map;

/// System properties for a while.
public final class SystemProperties implements AutoCloseable {

    private final Map<String, String> before = new HashMap<>();

    /// @param properties an empty value for a property that is not to be there
    public SystemProperties(Map<String, String> properties) {
        properties.forEach((name, value) -> {
            before.put(name, System.getProperty(name, ""));
            set(name, value);
        });
    }

    @Override
    public void close() {
        before.forEach(SystemProperties::set);
    }

    private static void set(String name, String value) {
        if (value.isEmpty()) {
            System.clearProperty(name);
        } else {
            System.setProperty(name, value);
        }
    }
}
