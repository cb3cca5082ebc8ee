/// What search engines ask of a model behind an endpoint of SageMaker: sparse embeddings, and the forms in
/// which OpenSearch's connectors and Elasticsearch's inference service ask for embeddings and rankings.
///
/// Knows the tasks on texts, and nothing of HTTP, queues or other forms. Requests are read on hook threads.
package dev.berth.search;
