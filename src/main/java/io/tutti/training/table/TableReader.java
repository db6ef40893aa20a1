package io.tutti.training.table;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.FilterReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

import io.tutti.engine.FailureReason;
import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;

/**
 * Reads a table in CSV format (RFC 4180) into a {@link TableBuilder}. Blank lines are
 * skipped, and a carriage return alone ends a line. Input that starts with gzip's magic
 * number is decompressed.
 */
final class TableReader {

	/**
	 * Maximum length of a row, so that a file without line ends or with a missing quote
	 * does not fill the memory.
	 */
	private static final int MAX_ROW_CHARS = 1 << 20;

	/** What is read of a table to check it; takes far less time than to join a group. */
	static final int CHECKED_CHARS = 1 << 20;

	/**
	 * A row after the end of the file, of half a surrogate pair, which no UTF-8 text
	 * holds. After a quote that is not closed, it is a part of the last cell.
	 */
	private static final String END = "\ud800";

	private final String name;

	private final CountingReader input;

	private final Rows rows = new Rows();

	private TableReader(String name, Reader input) {
		this.name = name;
		this.input = new CountingReader(input);
	}

	/**
	 * Reads the files of a table.
	 * @throws MalformedDataException if a file cannot be read or is malformed
	 */
	static Dataset read(TableSource source) {
		TableBuilder table = new TableBuilder(source);
		read(source, table, Long.MAX_VALUE);
		return table.build();
	}

	/**
	 * Checks the beginning of a table, and the whole of a short one.
	 * @throws MalformedDataException if a file cannot be read or is malformed
	 */
	static void check(TableSource source) {
		TableBuilder table = new TableBuilder(source);
		if (read(source, table, CHECKED_CHARS)) {
			table.build();
		}
	}

	/** Returns whether every row has been read. */
	private static boolean read(TableSource source, TableBuilder table, long maxChars) {
		boolean complete = read(source.file(), source, table, maxChars);
		if (!complete || source.testFile() == null) {
			return complete;
		}
		table.beginTest(source.testFile().toString());
		return read(source.testFile(), source, table, maxChars);
	}

	private static boolean read(Path file, TableSource source, TableBuilder table, long maxChars) {
		try (InputStream stream = Files.newInputStream(file)) {
			return read(file.toString(), stream, source, table, maxChars);
		}
		catch (NoSuchFileException ex) {
			throw new MalformedDataException("cannot read " + file + ": there is no such file", ex);
		}
		catch (IOException ex) {
			throw new MalformedDataException("cannot read " + file + ": " + FailureReason.of(ex), ex);
		}
	}

	/** Reads a stream as the table's only file and leaves it open. */
	static Dataset read(TableSource source, InputStream stream) throws IOException {
		TableBuilder table = new TableBuilder(source);
		read(source.file().toString(), stream, source, table, Long.MAX_VALUE);
		return table.build();
	}

	private static boolean read(String name, InputStream stream, TableSource source, TableBuilder table, long maxChars)
			throws IOException {
		BufferedInputStream buffered = new BufferedInputStream(stream);
		boolean packed = startsLikeGzip(buffered);
		try {
			// A decoder of its own reports malformed input instead of replacing it.
			Reader input = new BufferedReader(new InputStreamReader(packed ? new GzipMembers(buffered) : buffered,
					StandardCharsets.UTF_8.newDecoder()));
			skipByteOrderMark(input);
			return new TableReader(name, input).read(source.separator(), table, maxChars);
		}
		catch (CharacterCodingException ex) {
			throw new MalformedDataException(
					name + ((!packed && name.endsWith(".gz")) ? " is not gzip: it does not start with the bytes 1f 8b"
							: " is not UTF-8 text; convert it to UTF-8"),
					ex);
		}
		catch (EOFException ex) {
			throw new MalformedDataException(name + " is damaged: it starts like gzip, but ends too early", ex);
		}
		catch (ZipException ex) {
			throw new MalformedDataException(name + " is damaged: it starts like gzip, but " + ex.getMessage(), ex);
		}
	}

	private static boolean startsLikeGzip(BufferedInputStream stream) throws IOException {
		stream.mark(2);
		int magic = stream.read() | (stream.read() << 8);
		stream.reset();
		return magic == GZIPInputStream.GZIP_MAGIC;
	}

	private static void skipByteOrderMark(Reader input) throws IOException {
		input.mark(1);
		if (input.read() != '\ufeff') {
			input.reset();
		}
	}

	private boolean read(char separator, TableBuilder table, long maxChars) throws IOException {
		long charsRead = 0;
		try (CsvReader<List<String>> reader = CsvReader.builder()
			.fieldSeparator(separator)
			.skipEmptyLines(true)
			.allowExtraFields(true)
			.allowMissingFields(true)
			.allowExtraCharsAfterClosingQuote(false)
			.trimWhitespacesAroundQuotes(true)
			.maxBufferSize(2 * MAX_ROW_CHARS)
			.build(this.rows, this.input)) {
			for (List<String> cells : reader) {
				if (cells.getLast().endsWith(END)) {
					requireNoOpenQuote(cells);
				}
				else if (cells.size() > 1 || !cells.getFirst().isBlank()) {
					table.add(this.rows.line(), cells);
				}
				charsRead += this.input.characters;
				this.input.characters = 0;
				if (charsRead > maxChars) {
					return false;
				}
			}
			return true;
		}
		catch (UncheckedIOException ex) {
			if (ex.getCause() instanceof RowTooLongException) {
				throw rowTooLong(ex);
			}
			throw ex.getCause();
		}
		catch (CsvParseException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			throw new MalformedDataException(this.name + " line " + this.rows.line() + ": " + cause.getMessage()
					+ "; check the quotes and the separator (--separator)", ex);
		}
	}

	private void requireNoOpenQuote(List<String> last) {
		if (!last.getFirst().equals(END)) {
			throw new MalformedDataException(this.name + " line " + this.rows.line() + ", column " + last.size()
					+ ": the cell begins with a quote, but the file ends without a closing one");
		}
	}

	private MalformedDataException rowTooLong(Exception cause) {
		return new MalformedDataException(this.name + " line " + this.rows.line() + ": longer than " + MAX_ROW_CHARS
				+ " characters; is a closing quote missing, or is it not a table of separated cells?", cause);
	}

	/** Collects the cells of a row. */
	private static final class Rows extends AbstractBaseCsvCallbackHandler<List<String>> {

		private List<String> cells = new ArrayList<>();

		/** The row's first line, from 1. */
		long line() {
			return getStartingLineNumber();
		}

		@Override
		protected void handleBegin(long startingLineNumber) {
			this.cells = new ArrayList<>(this.cells.size());
		}

		@Override
		protected void handleField(int index, char[] buffer, int offset, int length, boolean quoted) {
			this.cells.add(new String(buffer, offset, length));
		}

		@Override
		protected List<String> buildRecord() {
			return this.cells;
		}

	}

	/** Fails in a row that is too long, and adds {@link #END}. */
	private static final class CountingReader extends FilterReader {

		private final Reader end = new StringReader("\n" + END);

		private int characters;

		CountingReader(Reader input) {
			super(input);
		}

		@Override
		public int read(char[] buffer, int offset, int length) throws IOException {
			int read = super.read(buffer, offset, length);
			if (read < 0) {
				return this.end.read(buffer, offset, length);
			}
			this.characters += read;
			if (this.characters > MAX_ROW_CHARS) {
				throw new RowTooLongException();
			}
			return read;
		}

		@Override
		public void close() {
			// The caller closes the stream.
		}

	}

	private static final class RowTooLongException extends IOException {

		private static final long serialVersionUID = 1L;

	}

}
