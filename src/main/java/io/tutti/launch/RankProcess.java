package io.tutti.launch;

import java.io.File;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One launched rank: its process, and the threads that relay its output.
 */
final class RankProcess {

	private static final File NOTHING = new File("/dev/null");

	private final int rank;

	private final Process process;

	private final StartedProcesses startedProcesses;

	private final List<Relay> relays = new ArrayList<>();

	/** The rank's child processes at the time it was asked to end. */
	private volatile List<ProcessHandle> descendants = List.of();

	private record Relay(Thread thread, Output output) {
	}

	/**
	 * Output of the rank, how much was read, and how long its reader has waited for it.
	 */
	private static final class Output extends FilterInputStream {

		/**
		 * The largest pipe that a program without privileges can have (fs.pipe-max-size).
		 */
		private static final long PIPE_BYTES = 1 << 20;

		private volatile long readSinceNanos;

		private volatile boolean reading;

		/** By reads that have ended. */
		private volatile long waitedNanos;

		private volatile long readBytes;

		/** What had been waited when the last output began. */
		private long waitedBeforeNanos;

		/** What had been read when the last output began. */
		private long readBeforeBytes;

		Output(InputStream output) {
			super(output);
		}

		@Override
		public int read(byte[] bytes, int offset, int length) throws IOException {
			long start = System.nanoTime();
			this.readSinceNanos = start;
			this.reading = true;
			try {
				int count = super.read(bytes, offset, length);
				this.readBytes = this.readBytes + Math.max(0, count);
				return count;
			}
			finally {
				this.reading = false;
				this.waitedNanos = this.waitedNanos + System.nanoTime() - start;
			}
		}

		void beginLast() {
			this.waitedBeforeNanos = waited();
			this.readBeforeBytes = this.readBytes;
		}

		/**
		 * Whether all output is read that was there when the last one began: the reader
		 * does not wait for output that is there, and a pipe holds no more than
		 * {@link #PIPE_BYTES}.
		 */
		boolean isRead(Duration limit) {
			return waited() - this.waitedBeforeNanos >= limit.toNanos()
					|| this.readBytes - this.readBeforeBytes > PIPE_BYTES;
		}

		/**
		 * Runs the reader with the stream's lock. Once the rank has ended, the JDK would
		 * otherwise close the pipe between two reads, and a program inside a shell script
		 * could not write any more.
		 */
		void readBy(Runnable reader) {
			synchronized (this.in) {
				reader.run();
			}
		}

		/** At most too little while a read ends. */
		private long waited() {
			long ended = this.waitedNanos;
			return ended + (this.reading ? Math.max(0, System.nanoTime() - this.readSinceNanos) : 0);
		}

	}

	private RankProcess(int rank, Process process, StartedProcesses startedProcesses) {
		this.rank = rank;
		this.process = process;
		this.startedProcesses = startedProcesses;
	}

	/**
	 * Starts a rank. Only the first rank of a machine reads the launcher's input.
	 * @param environment modifies the launcher's environment into the rank's
	 * @throws IOException if the program cannot be started
	 */
	static RankProcess start(int rank, int localRank, LaunchedCommand command, LaunchConsole console,
			Consumer<Map<String, String>> environment) throws IOException {
		ProcessBuilder builder = new ProcessBuilder(command.words());
		builder.redirectInput((localRank == 0) ? Redirect.INHERIT : Redirect.from(NOTHING));
		builder.redirectErrorStream(console.isToOneFile() && command.mayShareOnePipe());
		environment.accept(builder.environment());
		RankProcess started = new RankProcess(rank, builder.start(), new StartedProcesses(builder.environment(),
				RankEnvironment.LAUNCHER_PID, RankEnvironment.RUN_ID, RankEnvironment.RANK));
		try {
			started.relay(command.plainOutput(), console);
			return started;
		}
		catch (RuntimeException | Error ex) {
			started.kill();
			throw ex;
		}
	}

	/** Uses platform threads: a virtual one would pin its carrier during a read. */
	private void relay(boolean plainOutput, LaunchConsole console) {
		boolean first = this.rank == 0;
		Output out = new Output(this.process.getInputStream());
		Output err = new Output(this.process.getErrorStream());
		relay("out", out, (first && plainOutput) ? () -> pass(out, console)
				: new LineRelay(out, console.linesOf(this.rank, plainOutput, first)));
		relay("err", err, new LineRelay(err, console.linesOf(this.rank, true, first)));
	}

	private void relay(String stream, Output output, Runnable relay) {
		Thread thread = Thread.ofPlatform()
			.name("tutti-launch-r" + this.rank + "-" + stream)
			.daemon()
			.start(() -> output.readBy(relay));
		this.relays.add(new Relay(thread, output));
	}

	private static void pass(InputStream out, LaunchConsole console) {
		byte[] chunk = new byte[8192];
		try {
			int count;
			while ((count = out.read(chunk)) >= 0) {
				console.pass(chunk, count);
			}
		}
		catch (IOException ex) {
			// The rank's end of the pipe is closed: the output is complete.
		}
	}

	int rank() {
		return this.rank;
	}

	/** Calls the listener once, when the process has ended. */
	void onEnd(Consumer<RankExit> listener) {
		this.process.onExit().thenAccept((ended) -> listener.accept(new RankExit(this.rank, ended.exitValue())));
	}

	/**
	 * Sends SIGTERM to the rank. It uses the process handle, since
	 * {@code Process.destroy()} would also close the rank's output and lose its last
	 * lines.
	 */
	void terminate() {
		this.descendants = this.process.descendants().toList();
		this.process.toHandle().destroy();
	}

	/** Sends SIGKILL to the rank and its child processes, even if suspended. */
	void kill() {
		List<ProcessHandle> started = this.process.descendants().toList();
		this.process.toHandle().destroyForcibly();
		started.forEach(ProcessHandle::destroyForcibly);
	}

	/** Whether the process has ended and its output is complete. */
	boolean isDone() {
		return !this.process.isAlive() && this.relays.stream().noneMatch((relay) -> relay.thread().isAlive());
	}

	/**
	 * Sends SIGTERM to the child processes that remain from when the rank was asked to
	 * end, as a program in a shell script that ends at once.
	 */
	void terminateDescendants() {
		this.descendants.forEach(ProcessHandle::destroy);
	}

	/** Whether such child processes run. */
	boolean hasDescendants() {
		return this.descendants.stream().anyMatch(LiveProcess::is);
	}

	/** Kills the child processes that remain from when the rank was asked to end. */
	void killDescendants() {
		this.descendants.forEach(ProcessHandle::destroyForcibly);
	}

	/**
	 * Kills the processes that the rank has started, also if it has ended by itself. They
	 * would go on as this rank beside its replacement.
	 */
	void killStarted() {
		this.startedProcesses.kill();
	}

	/** Waits for the end of the output, until a time. */
	void awaitOutput(long endNanos) throws InterruptedException {
		for (Relay relay : this.relays) {
			relay.thread().join(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())));
		}
	}

	/** Begins to wait for the last output. */
	void beginLastOutput() {
		this.relays.forEach((relay) -> relay.output().beginLast());
	}

	/**
	 * Whether output that the rank has written may still wait for the launcher's reader:
	 * its relay has waited less than the limit for more, and has read less than a pipe
	 * holds.
	 */
	boolean hasOutput(Duration limit) {
		return this.relays.stream().anyMatch((relay) -> relay.thread().isAlive() && !relay.output().isRead(limit));
	}

}
