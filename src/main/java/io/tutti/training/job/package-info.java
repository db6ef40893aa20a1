/**
 * Runs a task as a job: the training loop, evaluation, stop agreement, the check for
 * divergence, the listener and the report. Imports {@code io.tutti.training},
 * {@code internal} and {@code checkpoint}, and no task.
 */
@NullMarked
package io.tutti.training.job;

import org.jspecify.annotations.NullMarked;
