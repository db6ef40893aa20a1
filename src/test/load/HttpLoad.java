import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

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

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	/** What each ten requests are: one barrier of all ranks, and six looks. */
	private static final List<String> MIX = List.of("barrier", "barrier", "barrier", "barrier", "group", "recorder",
			"metrics", "group", "analysis", "metrics");

	private static final Map<String, String> PATHS = Map.of("group", "/api/v1/group", "recorder",
			"/api/v1/flight-recorder?limit=100", "analysis", "/api/v1/flight-recorder/analysis", "metrics",
			"/actuator/prometheus");

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();

	private final int port;

	private final boolean barriersAlone;

	private final int count;

	private final long gapNanos;

	private final AtomicLongArray nanos;

	private HttpLoad(int port, boolean barriersAlone, int rate, int seconds) {
		this.port = port;
		this.barriersAlone = barriersAlone;
		this.count = rate * seconds / MIX.size() * MIX.size();
		this.gapNanos = 1_000_000_000L / rate;
		this.nanos = new AtomicLongArray(this.count);
	}

	/** Port of rank 0, {@code mix} or {@code barriers}, seconds, and the launcher's pid. */
	public static void main(String[] arguments) throws Exception {
		int port = Integer.parseInt(arguments[0]);
		boolean barriers = arguments[1].equals("barriers");
		int seconds = Integer.parseInt(arguments[2]);
		ProcessHandle launcher = ProcessHandle.of(Long.parseLong(arguments[3])).orElseThrow();
		int rate = barriers ? 1000 * RANKS : 500;
		HttpLoad warming = new HttpLoad(port, barriers, rate / 4, Math.max(2, seconds / 6));
		warming.run();
		double before = warming.steps(seconds / 3);
		long memory = memory(launcher);
		HttpLoad load = new HttpLoad(port, barriers, rate, seconds);
		long stepsAtStart = load.collectives();
		long start = System.nanoTime();
		load.run();
		double elapsed = (System.nanoTime() - start) / 1e9;
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

	private void run() throws InterruptedException {
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
	}

	private void send(int number, long due) {
		for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
		String kind = kind(number);
		try {
			HttpResponse<String> answer = this.client.send(request(kind, number), HttpResponse.BodyHandlers.ofString());
			if (answer.statusCode() != 200) {
				fail(kind + " " + answer.statusCode());
			}
			else if (kind.equals("barrier") && !answer.body().contains("\"arrived\":" + RANKS)) {
				fail("half a barrier");
			}
		}
		catch (IOException ex) {
			fail(kind + " " + ex.getClass().getSimpleName());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.nanos.set(number, System.nanoTime() - due);
	}

	private String kind(int number) {
		return this.barriersAlone ? "barrier" : MIX.get(number % MIX.size());
	}

	private HttpRequest request(String kind, int number) {
		HttpRequest.Builder request = HttpRequest.newBuilder().timeout(TIMEOUT);
		if (!kind.equals("barrier")) {
			return request.uri(uri(number % RANKS, PATHS.get(kind))).build();
		}
		int slot = this.barriersAlone ? number / RANKS : number / MIX.size();
		int rank = this.barriersAlone ? number % RANKS : number % MIX.size();
		return request.uri(uri(rank, "/api/v1/barrier"))
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers
				.ofString("{\"label\":\"load-" + slot % LABELS + "\",\"timeoutMs\":20000}"))
			.build();
	}

	private URI uri(int rank, String path) {
		return URI.create("http://127.0.0.1:" + (this.port + rank) + path);
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

	private long collectives() throws Exception {
		HttpResponse<String> meters = this.client.send(HttpRequest.newBuilder(uri(0, "/actuator/prometheus")).build(),
				HttpResponse.BodyHandlers.ofString());
		return (long) meters.body()
			.lines()
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
				this.failures.isEmpty() ? "none" : new TreeMap<>(this.failures));
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

	private static double at(long[] sorted, double share) {
		return sorted[Math.min(sorted.length - 1, (int) (share * sorted.length))] / 1e6;
	}

}
