/// Words of MeCab, for models whose texts MeCab cuts before their tokenizer sees them. An extension
/// of the tokenizer, which finds it as a [dev.berth.tokenizer.WordCutter].
///
/// Runs on the threads that read requests.
package dev.berth.tokenizer.mecab;
