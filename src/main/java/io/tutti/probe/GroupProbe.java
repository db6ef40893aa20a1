package io.tutti.probe;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether a whole group is there: asks every rank who it is and what group it sees, again
 * and again until all agree or time is up. Arguments: how many seconds to try, then the
 * address of each rank in order. Exit code 0 if all agree, 1 if not, 64 if the arguments
 * are wrong. Prints a line per rank.
 */
public final class GroupProbe {

	private static final int BAD_ARGUMENTS = 64;

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final List<URI> ranks;

	GroupProbe(List<URI> ranks) {
		this.ranks = ranks;
	}

	/** Asks until time is up, and exits. */
	public static void main(String[] args) throws InterruptedException {
		if (args.length < 2 || !args[0].matches("[0-9]{1,5}")) {
			System.err.println("usage: GroupProbe SECONDS URL_OF_RANK_0 [URL_OF_RANK_1 ...]");
			System.exit(BAD_ARGUMENTS);
		}
		List<URI> ranks = List.of(args).subList(1, args.length).stream().map(URI::create).toList();
		System.exit(new GroupProbe(ranks).agreesWithin(Duration.ofSeconds(Long.parseLong(args[0]))) ? 0 : 1);
	}

	/** Asks at least once, and prints what the ranks said last. */
	boolean agreesWithin(Duration limit) throws InterruptedException {
		long start = System.nanoTime();
		List<RankAnswer> answers = ask();
		while (!agree(answers) && System.nanoTime() - start < limit.toNanos()) {
			Thread.sleep(PAUSE);
			answers = ask();
		}
		answers.forEach((answer) -> System.out.println(answer.line()));
		boolean agreed = agree(answers);
		System.out.println(agreed ? "all " + this.ranks.size() + " ranks are one group"
				: "the ranks are not one group after " + limit.toSeconds() + " s");
		return agreed;
	}

	private List<RankAnswer> ask() {
		List<RankAnswer> answers = new ArrayList<>();
		for (URI rank : this.ranks) {
			answers.add(RankAnswer.of(rank.resolve("/api/v1/group"), answers.size(), this.ranks.size()));
		}
		return answers;
	}

	private static boolean agree(List<RankAnswer> answers) {
		return answers.stream().allMatch(RankAnswer::belongs)
				&& answers.stream().map(RankAnswer::generation).distinct().count() == 1;
	}

}
