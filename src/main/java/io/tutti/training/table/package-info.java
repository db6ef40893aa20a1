/**
 * The rows of a CSV file as a data set, the bundled digits, and a task that learns to
 * classify them. Imports {@code io.tutti.training} and {@code internal}.
 */
@NullMarked
package io.tutti.training.table;

import org.jspecify.annotations.NullMarked;
