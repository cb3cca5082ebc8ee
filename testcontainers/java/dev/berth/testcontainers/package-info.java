/// Models in containers, for tests of whoever asks them.
package dev.berth.testcontainers;
