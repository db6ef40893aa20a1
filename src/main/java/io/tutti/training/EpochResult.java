package io.tutti.training;

/**
 * Result of one epoch, a pass over the training samples.
 *
 * @param epoch number of the epoch, from 1
 * @param epochs number of epochs
 * @param loss mean loss over the epoch's samples, each measured before its step
 * @param testAccuracy share of correctly classified test samples, 0 to 1
 */
public record EpochResult(int epoch, int epochs, double loss, double testAccuracy) {
}
