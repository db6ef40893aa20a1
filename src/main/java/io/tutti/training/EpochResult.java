package io.tutti.training;

/**
 * How one pass over the training samples ended.
 *
 * @param epoch which pass, from 1
 * @param epochs how many there are
 * @param loss mean loss over the pass's samples, each before its step
 * @param testAccuracy share of the test samples that are told right, 0 to 1
 */
public record EpochResult(int epoch, int epochs, double loss, double testAccuracy) {
}
