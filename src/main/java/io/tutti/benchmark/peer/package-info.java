/**
 * The same benchmark by other systems on the same machine: builds a small program for
 * each, runs it while this one's ranks rest, reads its lines and compares. Imports the
 * benchmark and the engine only.
 */
@NullMarked
package io.tutti.benchmark.peer;

import org.jspecify.annotations.NullMarked;
