/// Why a request can't be served: a closed list of reasons and the exception that carries one.
///
/// Each reason has its HTTP status, so that a status stands in one line. Used from every thread.
package dev.berth.error;
