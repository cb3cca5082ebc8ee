/// JSON (RFC 8259) as text: the one reader of files, envelopes and payloads, and the one writer. A
/// text is exactly one value, of any length, with or without a byte order mark. It knows nothing of
/// requests but the account of their memory, and runs on any thread.
package dev.berth.json;
