package io.tutti.launch;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Merges the output of all ranks into whole lines, each prefixed with its rank. On a
 * terminal it also keeps one live line, such as a progress bar, below them. Thread-safe.
 * If output cannot be written, as when the reader closes the pipe, further output is
 * dropped and the ranks continue.
 */
public final class LaunchConsole {

	private static final byte[] CLEAR_LINE = "\r\033[K".getBytes(StandardCharsets.US_ASCII);

	private final Sink out;

	private final Sink err;

	private final boolean toOneFile;

	private @Nullable Sink liveSink;

	private byte[] live = new byte[0];

	/**
	 * Creates a console that writes to two streams, or to one.
	 * @param outIsTerminal whether {@code out} is a terminal
	 * @param errIsTerminal whether {@code err} is a terminal
	 */
	public LaunchConsole(OutputStream out, boolean outIsTerminal, OutputStream err, boolean errIsTerminal) {
		this.out = new Sink(out, outIsTerminal);
		this.err = new Sink(err, errIsTerminal);
		this.toOneFile = out == err && !outIsTerminal;
	}

	/** The console of this process. */
	public static LaunchConsole ofThisProcess() {
		OutputStream out = new FileOutputStream(FileDescriptor.out);
		return new LaunchConsole(out, Terminal.is(1), errIsOut() ? out : new FileOutputStream(FileDescriptor.err),
				Terminal.is(2));
	}

	private static boolean errIsOut() {
		try {
			return Files.isSameFile(Path.of("/proc/self/fd/1"), Path.of("/proc/self/fd/2"));
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Whether all lines go to one file or pipe, which is no terminal. */
	boolean isToOneFile() {
		return this.toOneFile;
	}

	/** Whether live lines on standard error are redrawn in place. */
	boolean showsLiveLines() {
		return this.err.terminal;
	}

	/**
	 * Why standard output is incomplete, such as a full disk; {@code null} if it is not,
	 * or if its reader has closed the pipe.
	 */
	synchronized @Nullable String problem() {
		return this.out.problem;
	}

	/** Prints a line of the launcher itself on standard error. */
	public void say(String line) {
		byte[] text = line.getBytes(StandardCharsets.UTF_8);
		write(this.err, "tutti launch: ", text, text.length, false);
	}

	/** The receiver of the lines of a rank's standard output or standard error. */
	LineRelay.Lines linesOf(int rank, boolean toErr, boolean showLive) {
		Sink sink = toErr ? this.err : this.out;
		String prefix = "[" + rank + "] ";
		return new LineRelay.Lines() {
			@Override
			public void line(byte[] text, int length, boolean endsUpdate) {
				if (isIncubatorNotice(text, length)) {
					return;
				}
				write(sink, prefix, text, length, showLive && endsUpdate);
			}

			@Override
			public void update(byte[] text, int length) {
				if (showLive) {
					showLive(sink, prefix, text, length);
				}
			}
		};
	}

	/** Writes bytes to standard output unchanged. */
	synchronized void pass(byte[] bytes, int length) {
		hideLive();
		this.out.write(bytes, length);
		if (length > 0 && bytes[length - 1] == '\n') {
			redrawLive();
		}
	}

	/**
	 * The JVM prints this notice about its vector module at every start; it cannot be
	 * suppressed.
	 */
	private static boolean isIncubatorNotice(byte[] text, int length) {
		return new String(text, 0, Math.min(length, 64), StandardCharsets.US_ASCII)
			.startsWith("WARNING: Using incubator modules:");
	}

	private synchronized void write(Sink sink, String prefix, byte[] text, int length, boolean endsLive) {
		hideLive();
		if (endsLive) {
			this.liveSink = null;
		}
		byte[] line = join(prefix, text, length, "\n");
		sink.write(line, line.length);
		redrawLive();
	}

	private synchronized void showLive(Sink sink, String prefix, byte[] text, int length) {
		if (sink.terminal) {
			this.liveSink = sink;
			this.live = join("\r" + prefix, text, length, "\033[K");
			redrawLive();
		}
	}

	private void hideLive() {
		if (this.liveSink != null) {
			this.liveSink.write(CLEAR_LINE, CLEAR_LINE.length);
		}
	}

	private void redrawLive() {
		if (this.liveSink != null) {
			this.liveSink.write(this.live, this.live.length);
		}
	}

	private static byte[] join(String before, byte[] text, int length, String after) {
		byte[] head = before.getBytes(StandardCharsets.US_ASCII);
		byte[] tail = after.getBytes(StandardCharsets.US_ASCII);
		byte[] joined = Arrays.copyOf(head, head.length + length + tail.length);
		System.arraycopy(text, 0, joined, head.length, length);
		System.arraycopy(tail, 0, joined, head.length + length, tail.length);
		return joined;
	}

	/** One of the two streams. */
	private static final class Sink {

		private final OutputStream stream;

		private final boolean terminal;

		private boolean closed;

		private @Nullable String problem;

		Sink(OutputStream stream, boolean terminal) {
			this.stream = stream;
			this.terminal = terminal;
		}

		void write(byte[] bytes, int length) {
			if (this.closed) {
				return;
			}
			try {
				this.stream.write(bytes, 0, length);
				this.stream.flush();
			}
			catch (IOException ex) {
				this.closed = true;
				this.problem = BrokenPipe.is(ex) ? null : ex.getMessage();
			}
		}

	}

}
