/// The dialects of platforms other than SageMaker: that of Vertex AI. `dev.berth.http` has its
/// route.
package dev.berth.http.vertex;
