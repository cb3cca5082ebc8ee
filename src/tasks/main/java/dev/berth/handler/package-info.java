/// The handlers that the server brings, by what `model.json` says: those of tasks, and that of tensors.
package dev.berth.handler;
