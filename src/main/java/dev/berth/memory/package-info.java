/// Memory that threads share: a budget of bytes, and the shares that are taken from it.
///
/// It only counts: nothing is allocated here. It knows nothing of payloads or images. The caller of a share says what
/// something will cost. Everything may be used by any threads.
package dev.berth.memory;
