/// The tasks on pictures that need no code: image classification.
///
/// [dev.berth.handler.image.ImageClassificationHandler] reads pictures, prepares them as the
/// model's processor does and runs the model. It knows nothing of HTTP, queues or configuration.
/// Pictures are decoded on hook threads, the model runs on workers.
package dev.berth.handler.image;
