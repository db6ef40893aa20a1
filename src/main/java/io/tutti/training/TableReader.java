package io.tutti.training;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

import org.jspecify.annotations.Nullable;

/**
 * Reads a table of comma-separated numbers whose last column is the class of the row. The
 * first line may be a header. Blank lines are skipped. Input that starts with gzip's
 * magic number is decompressed.
 */
final class TableReader {

	/** Maximum line length, so that a file without line ends does not fill the memory. */
	private static final int MAX_LINE_CHARS = 1 << 20;

	private final String name;

	private final Reader input;

	private final TableBuilder table;

	private int lineNumber;

	private TableReader(String name, Reader input) {
		this.name = name;
		this.input = input;
		this.table = new TableBuilder(name);
	}

	/**
	 * Reads a file.
	 * @throws MalformedDataException if the file cannot be read or is malformed
	 */
	static Dataset read(Path file) {
		try (InputStream stream = Files.newInputStream(file)) {
			return read(file.toString(), stream);
		}
		catch (NoSuchFileException ex) {
			throw new MalformedDataException("cannot read " + file + ": there is no such file", ex);
		}
		catch (IOException ex) {
			throw new MalformedDataException("cannot read " + file + ": " + ex.getMessage(), ex);
		}
	}

	/** Reads a stream and leaves it open. */
	static Dataset read(String name, InputStream stream) throws IOException {
		try {
			Reader input = new InputStreamReader(unpacked(stream), StandardCharsets.UTF_8);
			return new TableReader(name, new BufferedReader(input)).readTable();
		}
		catch (ZipException | EOFException ex) {
			throw new MalformedDataException(name + " is damaged: it starts like gzip, but " + ex.getMessage(), ex);
		}
	}

	private static InputStream unpacked(InputStream stream) throws IOException {
		BufferedInputStream buffered = new BufferedInputStream(stream);
		buffered.mark(2);
		int magic = buffered.read() | (buffered.read() << 8);
		buffered.reset();
		return (magic == GZIPInputStream.GZIP_MAGIC) ? new GZIPInputStream(buffered) : buffered;
	}

	private Dataset readTable() throws IOException {
		String line = readLine();
		while (line != null) {
			if (!line.isBlank()) {
				this.table.add(this.lineNumber, line.split(",", -1));
			}
			line = readLine();
		}
		return this.table.build();
	}

	private @Nullable String readLine() throws IOException {
		this.lineNumber++;
		StringBuilder line = new StringBuilder();
		int read = this.input.read();
		if (read < 0) {
			return null;
		}
		while (read >= 0 && read != '\n') {
			if (line.length() == MAX_LINE_CHARS) {
				throw new MalformedDataException(this.name + " line " + this.lineNumber + ": longer than "
						+ MAX_LINE_CHARS + " characters; is it a table of comma-separated numbers?");
			}
			line.append((char) read);
			read = this.input.read();
		}
		if (this.lineNumber == 1 && !line.isEmpty() && line.charAt(0) == '\ufeff') {
			line.deleteCharAt(0);
		}
		return line.toString();
	}

}
