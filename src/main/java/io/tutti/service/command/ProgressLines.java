package io.tutti.service.command;

import java.io.PrintStream;

import me.tongfei.progressbar.ProgressBarConsumer;

/**
 * One line that is drawn again and again, and whole lines that pass above it. Safe for
 * the bar's own thread beside others.
 */
final class ProgressLines implements ProgressBarConsumer {

	/** Fits an 80-column terminal with a rank before it. */
	private static final int WIDTH = 74;

	private final PrintStream out;

	private int shown;

	ProgressLines(PrintStream out) {
		this.out = out;
	}

	/** Prints a whole line, over the one that is being drawn. */
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

	/** Blanks what a longer line left behind. */
	private String padded(String line) {
		return line + " ".repeat(Math.max(0, this.shown - line.length()));
	}

}
