/// The forms in which platforms other than SageMaker write requests and answers: those of Vertex AI.
///
/// They stand around the records that a model takes and know nothing of HTTP, queues or models. `dev.berth.http` reads the
/// body and asks the model, as for any other request. Their code runs on the threads that read the body and write the answer.
package dev.berth.http.platform;
