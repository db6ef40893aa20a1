package io.tutti.service.page;

import org.jspecify.annotations.Nullable;

/**
 * This rank at one time.
 *
 * @param atMillis milliseconds since 1970
 * @param bytesPerSecond data rate of this rank's collectives since the last sample
 * @param skewMicros mean delay of the last rank to arrive; known only while the page is
 * open
 * @param loss mean loss of the last step of a training job
 * @param samplesPerSecond recent speed of a training job
 * @param exposedShare share of its step time without computation, 0 to 1
 */
record PageSample(long atMillis, double bytesPerSecond, @Nullable Long skewMicros, @Nullable Double loss,
		@Nullable Double samplesPerSecond, @Nullable Double exposedShare) {
}
