/// The published API: what someone writes who brings their own model code.
///
/// One interface, [dev.berth.hooks.InferenceHandler], with the values that its hooks take and
/// return and the exceptions that choose a caller's status. It uses nothing but the JDK, and Jackson
/// for [dev.berth.hooks.InvocationRequest#json]. It knows nothing of HTTP servers, queues or engines.
/// Its comments say which thread calls which hook.
///
/// Hooks that compile today compile against every later version before the next major one. A record
/// that gains a part keeps its constructors. Enums and sealed interfaces may gain kinds. So read
/// records by their accessors, not by record patterns, and give each `switch` a `default`.
package dev.berth.hooks;
