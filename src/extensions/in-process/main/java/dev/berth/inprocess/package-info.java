/// The model of an artifact for callers in the same process, without a listener.
package dev.berth.inprocess;
