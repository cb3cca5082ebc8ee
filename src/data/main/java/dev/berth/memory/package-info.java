/// Memory that requests share: budgets of bytes, the shares that are taken from them, and the
/// account of each request.
///
/// It counts, and allocates nothing to keep. It knows nothing of payloads or images: whoever makes
/// something says what it costs. Everything may be used by any threads, but for the account of one
/// request.
package dev.berth.memory;
