/// Memory budget.
package dev.berth.memory;
