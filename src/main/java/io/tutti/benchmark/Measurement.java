package io.tutti.benchmark;

/**
 * One line of a benchmark. Times are those of the slowest rank.
 *
 * @param system whose collective it was
 * @param transport what carried it
 * @param operation what was called
 * @param ranks world size
 * @param bytes size of one rank's full buffer, 0 for a barrier
 * @param count elements of that buffer
 * @param p50Micros median time of one call
 * @param minMicros shortest
 * @param maxMicros longest
 * @param samples how many were taken
 * @param wrong elements that were not what they should be
 */
public record Measurement(String system, String transport, Operation operation, int ranks, long bytes, long count,
		double p50Micros, double minMicros, double maxMicros, int samples, long wrong) {

	/** Bytes of the buffer per second, in GB (10^9 bytes) per second. */
	public double algorithmBandwidth() {
		return (this.bytes == 0) ? 0 : this.bytes / this.p50Micros / 1e3;
	}

	/**
	 * What the busiest connection carries, comparable between world sizes, in GB per
	 * second; nccl-tests' definition.
	 */
	public double busBandwidth() {
		return this.operation.busFactor(this.ranks) * algorithmBandwidth();
	}

}
