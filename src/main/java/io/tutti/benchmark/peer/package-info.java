/**
 * Runs the same benchmark with other systems on the same machine: builds a small program
 * for each, runs it while this system's ranks are idle, parses its lines and compares
 * them. Imports the benchmark and the engine only.
 */
@NullMarked
package io.tutti.benchmark.peer;

import org.jspecify.annotations.NullMarked;
