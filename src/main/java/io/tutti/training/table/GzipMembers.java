package io.tutti.training.table;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Decompresses all members of a gzip file. {@link GZIPInputStream} takes a damaged later
 * member for the end of the file; this stream requires that the last member ends the
 * file.
 */
final class GzipMembers extends GZIPInputStream {

	/** CRC and size at the end of a member. */
	private static final int TRAILER_BYTES = 8;

	/** What was read from the file when the decompressor last took bytes. */
	private long taken;

	GzipMembers(InputStream file) throws IOException {
		super(new Counted(file));
	}

	@Override
	protected void fill() throws IOException {
		super.fill();
		this.taken = file().bytes;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		int read = super.read(target, offset, length);
		if (read == -1) {
			long behind = file().bytes - this.taken + this.inf.getRemaining() - TRAILER_BYTES;
			if (behind != 0 || file().read() != -1) {
				throw new ZipException("what follows the compressed data is neither its end nor more of it");
			}
		}
		return read;
	}

	private Counted file() {
		return (Counted) this.in;
	}

	/** Counts the bytes that were read. */
	private static final class Counted extends FilterInputStream {

		private long bytes;

		Counted(InputStream file) {
			super(file);
		}

		@Override
		public int read() throws IOException {
			int value = super.read();
			this.bytes += (value >= 0) ? 1 : 0;
			return value;
		}

		@Override
		public int read(byte[] target, int offset, int length) throws IOException {
			int read = super.read(target, offset, length);
			this.bytes += Math.max(read, 0);
			return read;
		}

	}

}
