package dev.berth.storage;

/// How the stores of one kind are opened: a record of that [StoreKind].
public interface StoreOptions {}
