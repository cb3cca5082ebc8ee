package dev.berth.table;

import java.nio.file.Path;

/// The answers to a table's rows.
///
/// @param lines JSON Lines, one for each row in their order. The members of objects become columns;
///   another value becomes the column `prediction`
/// @param areJoined whether they stand behind the columns of the table itself
/// @param haveErrors whether there is a column `error` in any case
public record TableAnswers(Path lines, boolean areJoined, boolean haveErrors) {}
