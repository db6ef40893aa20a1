package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A rank's progress at its last heartbeat, for the error message of a rank that no longer
 * answers. Written by the control thread, read by any thread.
 */
final class LastHeartbeat {

	private record Sight(List<RankProgress> progress, long atNanos) {
	}

	private volatile @Nullable Sight sight;

	/** The rank has sent a heartbeat with its progress. */
	void take(List<RankProgress> progress, long nowNanos) {
		this.sight = new Sight(progress, nowNanos);
	}

	/** The rank's last call in a group and its age, for an error message. */
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
