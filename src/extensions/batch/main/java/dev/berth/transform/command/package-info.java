/// The command `transform`: its options, its report, and how it says how a job gets on.
///
/// It knows the server's settings, and starts a server where the job has no endpoint. Jobs
/// themselves are in [dev.berth.transform], which knows neither.
package dev.berth.transform.command;
