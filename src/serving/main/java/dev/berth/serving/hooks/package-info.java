/// Where hooks run, and in which order: the threads that all models share for them, the deadline, what a model's
/// load rehearses, and the errors of hooks as those of the server.
package dev.berth.serving.hooks;
