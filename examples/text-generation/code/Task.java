import java.util.List;
import java.util.Optional;

/// One text to write: a record.
///
/// @param prompt its tokens, at least one; in a session the further ones
/// @param echo what the text begins with: the prompt, where the caller wants it back, or nothing
/// @param maxTokens how many it may have; with all before it no more than the model can look back
///   on
/// @param stops the text ends before the first of them
/// @param talk what was said before, in a session
record Task(
        long[] prompt,
        String echo,
        int maxTokens,
        List<String> stops,
        Sampler.Settings sampling,
        Form form,
        Optional<Talk> talk) {}
