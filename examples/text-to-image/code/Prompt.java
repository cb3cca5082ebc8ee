import java.util.List;

/// What is to be drawn.
///
/// @param tokens the words, as the model knows them
/// @param steps how many steps it is from noise to a picture
/// @param seeds one for each picture
record Prompt(long[] tokens, int steps, List<Long> seeds, Format format) {

    Prompt withSeeds(List<Long> others) {
        return new Prompt(tokens, steps, others, format);
    }
}
