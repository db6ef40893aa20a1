package io.tutti.service.command;

import java.io.PrintStream;

import me.tongfei.progressbar.ProgressBarConsumer;

/**
 * A progress line that is redrawn in place, and complete lines that scroll above it.
 * Thread-safe, since the progress bar draws on a thread of its own.
 */
final class ProgressLines implements ProgressBarConsumer {

	/** Fits an 80-column terminal behind a rank prefix. */
	private static final int WIDTH = 74;

	private final PrintStream out;

	private int shown;

	ProgressLines(PrintStream out) {
		this.out = out;
	}

	/** Prints a complete line in place of the progress line. */
	synchronized void print(String line) {
		this.out.print(((this.shown > 0) ? "\r" : "") + padded(line) + "\n");
		this.out.flush();
		this.shown = 0;
	}

	@Override
	public int getMaxRenderedLength() {
		return WIDTH;
	}

	@Override
	public synchronized void accept(String bar) {
		String line = bar.stripTrailing();
		this.out.print("\r" + padded(line));
		this.out.flush();
		this.shown = line.length();
	}

	@Override
	public synchronized void close() {
		if (this.shown > 0) {
			this.out.print("\n");
			this.out.flush();
			this.shown = 0;
		}
	}

	/** Pads the line with blanks to overwrite a longer previous one. */
	private String padded(String line) {
		return line + " ".repeat(Math.max(0, this.shown - line.length()));
	}

}
