package io.tutti.launch;

import java.io.IOException;
import java.io.InputStream;

/**
 * Splits a rank's output into lines. A line feed ends a line. A carriage return begins an
 * update of the current line, as progress bars do; only the last update is kept once the
 * line ends. Works on bytes and is independent of the encoding.
 */
final class LineRelay implements Runnable {

	/**
	 * Longer lines are split, so that output without line ends does not exhaust the
	 * memory.
	 */
	static final int MAX_LINE_BYTES = 64 * 1024;

	private final InputStream input;

	private final Lines lines;

	private final byte[] line = new byte[MAX_LINE_BYTES];

	private int length;

	/** Whether the line had a carriage return and is shown while it is written. */
	private boolean updated;

	/** Whether the last byte was a carriage return: the next byte replaces the line. */
	private boolean returned;

	LineRelay(InputStream input, Lines lines) {
		this.input = input;
		this.lines = lines;
	}

	/** Relays until the end of the output, or until the pipe breaks. */
	@Override
	public void run() {
		byte[] chunk = new byte[8192];
		try {
			int count;
			while ((count = this.input.read(chunk)) >= 0) {
				for (int i = 0; i < count; i++) {
					accept(chunk[i]);
				}
				if (isUpdate() && this.length > 0 && this.input.available() == 0) {
					this.lines.update(this.line, this.length);
				}
			}
		}
		catch (IOException ex) {
			// The rank's end of the pipe is closed: the output is complete.
		}
		if (this.length > 0) {
			endLine();
		}
	}

	private void accept(byte b) {
		if (b == '\n') {
			endLine();
			return;
		}
		if (b == '\r') {
			this.returned = true;
			return;
		}
		if (this.returned) {
			beginUpdate();
		}
		if (this.length == this.line.length) {
			endLine();
		}
		this.line[this.length++] = b;
	}

	private boolean isUpdate() {
		return this.updated || this.returned;
	}

	private void beginUpdate() {
		this.returned = false;
		this.updated = true;
		this.length = 0;
	}

	private void endLine() {
		this.lines.line(this.line, this.length, isUpdate());
		this.length = 0;
		this.updated = false;
		this.returned = false;
	}

	/** Receives the lines on the relay's thread. */
	interface Lines {

		/**
		 * A whole line.
		 * @param endsUpdate whether the line is the last of several updates
		 */
		void line(byte[] text, int length, boolean endsUpdate);

		/** The current state of an unfinished line. */
		void update(byte[] text, int length);

	}

}
