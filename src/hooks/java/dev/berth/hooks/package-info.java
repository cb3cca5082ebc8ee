/// The published API: what someone writes who brings their own model code.
///
/// One interface, [dev.berth.hooks.InferenceHandler], with the values that its hooks take and
/// return and the exceptions that choose a caller's status. It uses nothing but the JDK and knows
/// nothing of HTTP servers, queues or engines. Its comments say which thread calls which hook.
package dev.berth.hooks;
