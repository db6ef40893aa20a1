package io.tutti.probe;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.tutti.launch.JobToken;
import io.tutti.launch.ProcessProperties;

/**
 * Checks that a group is complete. Polls the group endpoint of every rank until all agree
 * or the time limit passes. Then requests a roll call from rank 0 with the job's token.
 * Over HTTPS it trusts the same authority as the ranks. Arguments: time limit in seconds,
 * then the URL of each rank in rank order. Exit code 0 if all ranks agree and answer, 1
 * if not, 64 if the arguments are invalid. Prints one line per rank and one for the roll
 * call.
 */
public final class GroupProbe {

	/** File with the authority that the ranks' certificates chain to. */
	public static final String AUTHORITY_VARIABLE = "TUTTI_PROBE_AUTHORITY";

	/** Name that the ranks' certificates carry. */
	public static final String PEER_NAME_VARIABLE = "TUTTI_TLS_PEERNAME";

	private static final int BAD_ARGUMENTS = 64;

	private static final int MAX_PORT = 65535;

	/**
	 * With 1000 ranks that are gone, a round takes less than the time limit of a test.
	 */
	private static final int MOST_AT_ONCE = 256;

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final List<URI> ranks;

	private final String token;

	private final Trust trust;

	GroupProbe(List<URI> ranks, String token, Trust trust) {
		this.ranks = ranks;
		this.token = token;
		this.trust = trust;
	}

	/** Runs the probe and exits. */
	public static void main(String[] args) throws InterruptedException, IOException, GeneralSecurityException {
		List<String> urls = Stream.of(args).skip(1).toList();
		if (urls.isEmpty() || !args[0].matches("[0-9]{1,5}") || !urls.stream().allMatch(GroupProbe::isUrl)) {
			System.err.println("usage: GroupProbe SECONDS URL_OF_RANK_0 [URL_OF_RANK_1 ...]");
			System.exit(BAD_ARGUMENTS);
		}
		List<URI> ranks = urls.stream().map(URI::create).toList();
		GroupProbe probe = new GroupProbe(ranks, token(System.getenv()), trust(System.getenv()));
		System.exit(probe.agreesWithin(Duration.ofSeconds(Long.parseLong(args[0]))) && probe.answersTheRoll() ? 0 : 1);
	}

	/**
	 * Whether a text is the URL of a host. A {@link URL} has the hosts with an underscore
	 * too, of which a {@link URI} knows neither name nor port.
	 */
	static boolean isUrl(String text) {
		try {
			URI uri = new URI(text);
			if (!Set.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
				return false;
			}
			URL url = uri.toURL();
			return !url.getHost().isEmpty() && url.getPort() <= MAX_PORT;
		}
		catch (URISyntaxException | MalformedURLException ex) {
			return false;
		}
	}

	/**
	 * The job's token, from the same variables as on a rank; empty if there is none.
	 * @throws io.tutti.BadConfigurationException as on a rank
	 */
	static String token(Map<String, String> environment) {
		return Objects.requireNonNullElse(JobToken.of(ProcessProperties.of(Map.of(), environment)), "");
	}

	/** The trust settings for HTTPS. */
	static Trust trust(Map<String, String> environment) throws IOException, GeneralSecurityException {
		String authority = environment.getOrDefault(AUTHORITY_VARIABLE, "");
		return authority.isEmpty() ? Trust.JAVAS_OWN
				: Trust.in(Path.of(authority), environment.getOrDefault(PEER_NAME_VARIABLE, ""));
	}

	/** Requests a roll call from rank 0 and prints the result. */
	boolean answersTheRoll() {
		RollCall roll = RollCall.by(this.ranks.getFirst(), this.token, this.trust, this.ranks.size());
		System.out.println(roll.line());
		return roll.complete();
	}

	/**
	 * Polls at least once until the ranks agree or the limit passes. Prints the ranks'
	 * last answers.
	 */
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
				: "the ranks do not form one group after " + limit.toSeconds() + " s");
		return agreed;
	}

	/**
	 * Asks many ranks at once, since each of those that are gone takes several seconds.
	 */
	private List<RankAnswer> ask() throws InterruptedException {
		List<Callable<RankAnswer>> questions = new ArrayList<>();
		for (URI rank : this.ranks) {
			int number = questions.size();
			questions.add(() -> RankAnswer.of(rank.resolve("/api/v1/group"), this.trust, number, this.ranks.size()));
		}
		try (ExecutorService threads = Executors.newFixedThreadPool(Math.min(questions.size(), MOST_AT_ONCE),
				Thread.ofVirtual().factory())) {
			return threads.invokeAll(questions).stream().map(Future::resultNow).toList();
		}
	}

	private static boolean agree(List<RankAnswer> answers) {
		return answers.stream().allMatch(RankAnswer::belongs)
				&& answers.stream().map(RankAnswer::generation).distinct().count() == 1;
	}

}
