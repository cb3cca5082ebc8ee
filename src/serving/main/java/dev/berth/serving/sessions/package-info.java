/// The sessions of a model: opened, entered by one request at a time, ended when they have been
/// idle for too long or when others need their room.
package dev.berth.serving.sessions;
