import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Asks ranks at a steady rate, whatever they answer and however late: an open loop. A
 * request's time counts from when it was due, so that a rank which stalls pays for all
 * that waited meanwhile. Run by {@code load.sh}.
 */
final class HttpLoad {

	private static final int RANKS = 4;

	private static final int CLIENTS = 200;

	/** Many labels at once, each used again and again. */
	private static final int LABELS = 50;

	private static final AtomicInteger RUNS = new AtomicInteger();

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final int BARRIERS = 8;

	/** What each fifty requests are: eight barriers of all ranks, and eighteen looks. */
	private static final List<String> MIX = Stream
		.of(Collections.nCopies(BARRIERS * RANKS, "barrier"), Collections.nCopies(10, "group"),
				Collections.nCopies(7, "recorder"), List.of("metrics"))
		.flatMap(List::stream)
		.toList();

	private static final Map<String, String> PATHS = Map.of("group", "/api/v1/group", "recorder",
			"/api/v1/flight-recorder?limit=100", "metrics", "/actuator/prometheus", "barrier", "/api/v1/barrier");

	/** What a whole answer holds; a barrier that not all ranks came to is none. */
	private static final Map<String, String> PROOFS = Map.of("group", "\"state\":\"READY\"", "recorder",
			"\"lastSequence\":", "metrics", "tutti_group_state", "barrier", "\"arrived\":" + RANKS);

	/** Until the JVMs of all ranks have compiled what they will. */
	private static final Duration WARMING = Duration.ofSeconds(90);

	private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();

	/** Its own labels: what failed in one run is not late in the next. */
	private final int run = RUNS.incrementAndGet();

	private final int port;

	private final boolean barriersAlone;

	private final int count;

	private final long gapNanos;

	private final AtomicLongArray nanos;

	private HttpLoad(int port, boolean barriersAlone, int count, long gapNanos) {
		this.port = port;
		this.barriersAlone = barriersAlone;
		this.count = count / MIX.size() * MIX.size();
		this.gapNanos = gapNanos;
		this.nanos = new AtomicLongArray(this.count);
	}

	/** Port of rank 0, {@code mix} or {@code barriers}, seconds, and the launcher's pid. */
	public static void main(String[] arguments) throws Exception {
		int port = Integer.parseInt(arguments[0]);
		boolean barriers = arguments[1].equals("barriers");
		int seconds = Integer.parseInt(arguments[2]);
		ProcessHandle launcher = ProcessHandle.of(Long.parseLong(arguments[3])).orElseThrow();
		int rate = barriers ? 1000 * RANKS : 500;
		System.setProperty("http.maxConnections", String.valueOf(CLIENTS));
		System.setProperty("sun.net.http.retryPost", "false");
		warm(port, barriers);
		HttpLoad load = new HttpLoad(port, barriers, rate * seconds, 1_000_000_000L / rate);
		double before = load.steps(seconds / 3);
		long memory = memory(launcher);
		long stepsAtStart = load.collectives();
		double elapsed = load.run();
		double during = (load.collectives() - stepsAtStart) / elapsed;
		double after = load.steps(seconds / 3);
		load.tell(elapsed);
		System.out.printf("memory of all ranks: %d MB before, %d MB after%n", memory >> 20, memory(launcher) >> 20);
		if (!barriers) {
			System.out.printf("collectives a second at rank 0: %.1f before, %.1f during, %.1f after: %.1f %% of undisturbed%n",
					before, during, after, 100 * during / ((before + after) / 2));
		}
		System.exit(load.failures.isEmpty() ? 0 : 1);
	}

	/** As fast as the ranks answer. */
	private static void warm(int port, boolean barriersAlone) throws InterruptedException {
		long start = System.nanoTime();
		while (System.nanoTime() - start < WARMING.toNanos()) {
			HttpLoad load = new HttpLoad(port, barriersAlone, CLIENTS * 50, 0);
			double elapsed = load.run();
			System.out.printf("warming up: %.0f requests a second, errors: %s%n", load.count / elapsed, load.errors());
		}
	}

	/** Seconds that all requests took. */
	private double run() throws InterruptedException {
		long start = System.nanoTime() + 100_000_000L;
		List<Thread> clients = new ArrayList<>();
		for (int client = 0; client < CLIENTS; client++) {
			int first = client;
			clients.add(Thread.ofVirtual().start(() -> {
				for (int request = first; request < this.count; request += CLIENTS) {
					send(request, start + request * this.gapNanos);
				}
			}));
		}
		for (Thread client : clients) {
			client.join();
		}
		return (System.nanoTime() - start) / 1e9;
	}

	private void send(int number, long due) {
		for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
		String kind = kind(number);
		try {
			HttpURLConnection call = ask(kind, number);
			int status = call.getResponseCode();
			if (status != HttpURLConnection.HTTP_OK) {
				fail(kind + " " + status);
			}
			else if (!body(call).contains(PROOFS.get(kind))) {
				fail(kind + " not whole");
			}
		}
		catch (IOException ex) {
			fail(kind + " " + ex.getClass().getSimpleName());
		}
		this.nanos.set(number, System.nanoTime() - due);
	}

	private String kind(int number) {
		return this.barriersAlone ? "barrier" : MIX.get(number % MIX.size());
	}

	private HttpURLConnection ask(String kind, int number) throws IOException {
		if (!kind.equals("barrier")) {
			return open((number + number / MIX.size()) % RANKS, kind);
		}
		int slot = this.barriersAlone ? number / RANKS : number / MIX.size() * BARRIERS + number % MIX.size() / RANKS;
		int rank = this.barriersAlone ? number % RANKS : number % MIX.size() % RANKS;
		byte[] body = ("{\"label\":\"load-" + this.run + "-" + slot % LABELS + "\",\"timeoutMs\":20000}")
			.getBytes(StandardCharsets.UTF_8);
		HttpURLConnection call = open(rank, kind);
		call.setRequestMethod("POST");
		call.setRequestProperty("Content-Type", "application/json");
		call.setDoOutput(true);
		call.setFixedLengthStreamingMode(body.length);
		call.getOutputStream().write(body);
		return call;
	}

	private HttpURLConnection open(int rank, String kind) throws IOException {
		URI uri = URI.create("http://127.0.0.1:" + (this.port + rank) + PATHS.get(kind));
		HttpURLConnection call = (HttpURLConnection) uri.toURL().openConnection();
		call.setConnectTimeout(Math.toIntExact(TIMEOUT.toMillis()));
		call.setReadTimeout(Math.toIntExact(TIMEOUT.toMillis()));
		return call;
	}

	/** Read to its end, so that the next request can use the connection. */
	private static String body(HttpURLConnection call) throws IOException {
		try (InputStream body = call.getInputStream()) {
			return new String(body.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private void fail(String what) {
		this.failures.computeIfAbsent(what, (_) -> new AtomicInteger()).incrementAndGet();
	}

	/** Collectives a second that rank 0 ends while nobody asks. */
	private double steps(int seconds) throws Exception {
		long first = collectives();
		long start = System.nanoTime();
		Thread.sleep(Duration.ofSeconds(seconds));
		return (collectives() - first) / ((System.nanoTime() - start) / 1e9);
	}

	private long collectives() throws IOException {
		return (long) body(open(0, "metrics")).lines()
			.filter((line) -> line.startsWith("tutti_collective_duration_seconds_count"))
			.mapToDouble((line) -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
			.sum();
	}

	private static long memory(ProcessHandle launcher) throws IOException {
		long bytes = 0;
		for (ProcessHandle rank : launcher.descendants().toList()) {
			for (String line : Files.readAllLines(Path.of("/proc", "" + rank.pid(), "status"))) {
				if (line.startsWith("VmRSS:")) {
					bytes += Long.parseLong(line.replaceAll("\\D", "")) << 10;
				}
			}
		}
		return bytes;
	}

	private void tell(double elapsed) {
		System.out.printf("%d requests in %.1f s by %d clients, errors: %s%n", this.count, elapsed, CLIENTS,
				errors());
		for (String kind : this.barriersAlone ? List.of("barrier") : MIX.stream().distinct().toList()) {
			long[] sorted = IntStream.range(0, this.count)
				.filter((number) -> kind(number).equals(kind))
				.mapToLong(this.nanos::get)
				.sorted()
				.toArray();
			System.out.printf("%-9s %7d requests, ms: p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, most %.1f%n", kind,
					sorted.length, at(sorted, 0.5), at(sorted, 0.9), at(sorted, 0.99), at(sorted, 0.999),
					at(sorted, 1));
		}
	}

	private String errors() {
		return this.failures.isEmpty() ? "none" : new TreeMap<>(this.failures).toString();
	}

	private static double at(long[] sorted, double share) {
		return sorted[Math.min(sorted.length - 1, (int) (share * sorted.length))] / 1e6;
	}

}
