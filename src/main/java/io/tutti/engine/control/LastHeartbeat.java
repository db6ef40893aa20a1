package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How far a rank had come when it last gave a sign of life: all that can be told of one
 * that gives none any more. Written by the control thread, read by anybody.
 */
final class LastHeartbeat {

	private record Sight(List<RankProgress> progress, long atNanos) {
	}

	private volatile @Nullable Sight sight;

	/** The rank says how far it has come. */
	void take(List<RankProgress> progress, long nowNanos) {
		this.sight = new Sight(progress, nowNanos);
	}

	/** Where in a group's order of calls it was, and how long ago, in words. */
	String in(String group, long nowNanos) {
		Sight seen = this.sight;
		if (seen == null) {
			return "it has given no sign of life since the ranks met";
		}
		String when = Duration.ofNanos(nowNanos - seen.atNanos()).toMillis() + " ms ago";
		return seen.progress()
			.stream()
			.filter((progress) -> progress.group().equals(group) && progress.lastEntered() >= 0)
			.findFirst()
			.map((progress) -> "it was last seen in #" + progress.lastEntered() + ", " + when)
			.orElse("it was last seen " + when + ", in no call of this group");
	}

}
