/// Why a request can't be served: a closed list of reasons and the exception that carries one.
///
/// It knows nothing of HTTP; `dev.berth.http.Errors` gives each reason its status. Used from every
/// thread.
package dev.berth.error;
