package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.ProcessGroup;
import org.jspecify.annotations.Nullable;

/**
 * The result of a roll call.
 *
 * @param rank the rank that asked
 * @param worldSize ranks in the group
 * @param answered the ranks that answered
 * @param problem what is wrong with the group; absent if nothing is
 * @param silentRanks the ranks that did not answer: lost, left or too slow, or not asked
 * since rank 0, which passes on the question, is lost
 * @param elapsedMs how long the roll call took
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record RollCallView(int rank, int worldSize, @Nullable String problem, List<Answer> answered, List<Integer> silentRanks,
		long elapsedMs) {

	/**
	 * A rank that answered.
	 *
	 * @param rank the rank
	 * @param roundTripMicros round-trip time by way of rank 0; 0 for the rank that asked
	 */
	record Answer(int rank, long roundTripMicros) {
	}

	static RollCallView of(ProcessGroup asker, @Nullable String problem, Map<Integer, Duration> answers,
			Duration elapsed) {
		List<Answer> answered = answers.entrySet()
			.stream()
			.map((answer) -> new Answer(answer.getKey(), TimeUnit.NANOSECONDS.toMicros(answer.getValue().toNanos())))
			.toList();
		List<Integer> silent = IntStream.range(0, asker.worldSize())
			.filter((rank) -> !answers.containsKey(rank))
			.boxed()
			.toList();
		return new RollCallView(asker.rank(), asker.worldSize(), problem, answered, silent, elapsed.toMillis());
	}

}
