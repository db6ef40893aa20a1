package io.tutti.training.job;

import io.tutti.training.TestMetric;

/**
 * Result of one epoch, a pass over the training samples.
 *
 * @param epoch number of the epoch, from 1
 * @param epochs number of epochs
 * @param loss mean loss over the epoch's samples, each measured before its step
 * @param metric what was measured on the test samples
 * @param testScore its mean over the test samples; NaN if the job stops, which leaves the
 * evaluation out
 */
public record EpochResult(int epoch, int epochs, double loss, TestMetric metric, double testScore) {
}
