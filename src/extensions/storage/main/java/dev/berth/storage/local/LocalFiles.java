package dev.berth.storage.local;

import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import dev.berth.storage.StoreOptions;
import java.util.Collection;

/// Files and directories, by their paths or as `file:///path`.
public final class LocalFiles implements StoreKind {

    @Override
    public String scheme() {
        return "file";
    }

    @Override
    public String form() {
        return "file:///path";
    }

    @Override
    public ObjectStore open(Collection<StoreOptions> options) {
        return new LocalStore();
    }
}
