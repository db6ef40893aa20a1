package io.tutti.benchmark;

/**
 * One line of a benchmark. Times are those of the slowest rank.
 *
 * @param system the measured system
 * @param transport transport of the data
 * @param operation the measured operation
 * @param ranks world size
 * @param bytes size of one rank's full buffer, 0 for a barrier
 * @param count elements of that buffer
 * @param p50Micros median time of one call
 * @param minMicros shortest time of one call
 * @param maxMicros longest time of one call
 * @param samples number of samples
 * @param wrong number of wrong elements
 */
public record Measurement(String system, String transport, Operation operation, int ranks, long bytes, long count,
		double p50Micros, double minMicros, double maxMicros, int samples, long wrong) {

	/**
	 * Buffer size divided by the median time, in GB (10^9 bytes) per second; 0 for a
	 * barrier.
	 */
	public double algorithmBandwidth() {
		return (this.bytes == 0) ? 0 : this.bytes / this.p50Micros / 1e3;
	}

	/**
	 * Bandwidth of the busiest connection in GB (10^9 bytes) per second, comparable
	 * between world sizes; as defined by nccl-tests.
	 */
	public double busBandwidth() {
		return this.operation.busFactor(this.ranks) * algorithmBandwidth();
	}

}
