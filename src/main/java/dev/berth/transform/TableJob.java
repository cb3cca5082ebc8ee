package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.table.TableFormat;
import dev.berth.table.TableFormats;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A job whose objects are tables: their rows are sent as JSON Lines, and a table is made of the
/// answers.
///
/// @param answersAreTable whether outputs are such tables too, or else JSON Lines
/// @param areJoined whether the tables that are written have the columns of the input
/// @param haveErrors whether an answer may be an error
record TableJob(
    TableFormat format, boolean answersAreTable, boolean areJoined, boolean haveErrors) {

  private static final String JSON_LINES = MediaType.JSON_LINES.toString();

  /// Of the lines that are made of a table.
  static final TransformFormats LINES =
      new TransformFormats(
          Optional.of(JSON_LINES), Optional.of(JSON_LINES), SplitType.LINE, AssembleWith.LINE);

  /// What is said of objects that are tables. Nothing where they are none, where they are sent
  /// whole, or where there is a problem.
  static Optional<TableJob> read(Map<JobOption, String> options, List<String> problems) {
    var type =
        Optional.ofNullable(options.get(JobOption.CONTENT_TYPE))
            .flatMap(MediaType::parse)
            .map(MediaType::withoutParameters)
            .map(MediaType::toString)
            .filter(TableFormats.TYPES::contains);
    var request = options.get(JobOption.REQUEST_CONTENT_TYPE);
    if (type.isEmpty()) {
      if (request != null) {
        problems.add(
            "%s: found %s, expected it with one of %s as the %s"
                .formatted(
                    JobOption.REQUEST_CONTENT_TYPE,
                    request,
                    String.join(", ", TableFormats.TYPES),
                    JobOption.CONTENT_TYPE.flag()));
      }
      return Optional.empty();
    }
    return type.get().equals(request) ? Optional.empty() : read(type.get(), options, problems);
  }

  private static Optional<TableJob> read(
      String type, Map<JobOption, String> options, List<String> problems) {
    require(JobOption.REQUEST_CONTENT_TYPE, List.of(JSON_LINES, type), options, problems);
    require(JobOption.ACCEPT, List.of(type, JSON_LINES), options, problems);
    for (var option :
        List.of(JobOption.SPLIT_TYPE, JobOption.ASSEMBLE_WITH, JobOption.COMPRESSION_TYPE)) {
      require(option, List.of("None"), options, problems);
    }
    boolean answersAreTable = !JSON_LINES.equals(options.get(JobOption.ACCEPT));
    boolean areJoined =
        answersAreTable && JoinSource.INPUT.toString().equals(options.get(JobOption.JOIN_SOURCE));
    if (areJoined) {
      require(JobOption.OUTPUT_FILTER, List.of("$"), options, problems);
    }
    try {
      boolean haveErrors = "keep".equals(options.get(JobOption.BAD_RECORDS));
      return Optional.of(
          new TableJob(TableFormats.find(type), answersAreTable, areJoined, haveErrors));
    } catch (IllegalStateException e) {
      problems.add("%s: %s".formatted(JobOption.CONTENT_TYPE, e.getMessage()));
      return Optional.empty();
    }
  }

  private static void require(
      JobOption option,
      List<String> allowed,
      Map<JobOption, String> options,
      List<String> problems) {
    var given = options.get(option);
    if (given != null && !allowed.contains(given)) {
      problems.add(
          "%s: found %s, expected %s where the objects are tables"
              .formatted(option, given, String.join(" or ", allowed)));
    }
  }

  /// The content type of the outputs.
  String outputType() {
    return answersAreTable ? format.type() : JSON_LINES;
  }

  @Override
  public String toString() {
    return "%s %s %s %s".formatted(format.type(), answersAreTable, areJoined, haveErrors);
  }
}
