/// What hooks do with sounds. It knows nothing of the server.
package dev.berth.audio;
