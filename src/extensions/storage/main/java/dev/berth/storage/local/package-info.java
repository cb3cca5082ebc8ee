/// Files and directories as a store.
package dev.berth.storage.local;
