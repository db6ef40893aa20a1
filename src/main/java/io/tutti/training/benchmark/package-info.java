/**
 * Benchmark of training steps with and without communication. Imports
 * {@code io.tutti.training} and {@code internal}.
 */
@NullMarked
package io.tutti.training.benchmark;

import org.jspecify.annotations.NullMarked;
