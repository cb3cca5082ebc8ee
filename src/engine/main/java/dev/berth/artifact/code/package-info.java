/// Hooks that come with the model artifact: `code/*.java` compiled in memory, `code/*.jar` as they
/// are.
///
/// It makes the handler and knows nothing of what is served, or how. Runs on the thread that starts
/// the server; classes are loaded on whatever thread first needs them. The classes of an artifact
/// live in a class loader of their own, which is closed with the handler and goes when the model
/// does.
package dev.berth.artifact.code;
