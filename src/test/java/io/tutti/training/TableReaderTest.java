package io.tutti.training;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class TableReaderTest {

	private static final String GOOD = "1,2.5,0\n-3,4e-1,1\n5,6,2\n7,8,0\n9,10,1\n";

	@TempDir
	private Path directory;

	@Test
	void theDigitsDataSetIsComplete() {
		Dataset digits = Digits.read();
		assertThat(digits.rows()).isEqualTo(1797);
		assertThat(digits.columns()).isEqualTo(64);
		assertThat(digits.classes()).isEqualTo(10);
		assertThat(digits.features()).hasSize(1797 * 64);
		assertThat(Arrays.copyOf(digits.features(), 6)).containsExactly(0, 0, 5, 13, 9, 1);
		assertThat(Arrays.copyOf(digits.labels(), 3)).containsExactly(0, 1, 2);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			plain                  | 1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1\\n
			no line end            | 1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1
			a header               | a,b,class\\n1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1\\n
			Windows line ends      | 1,2.5,0\\r\\n-3,4e-1,1\\r\\n5,6,2\\r\\n7,8,0\\r\\n9,10,1\\r\\n
			blank lines and spaces | \\n 1, 2.5 ,0 \\n-3,4e-1,1\\n\\n5,6,2\\n7,8,0\\n9,10,1\\n\\n
			labels as decimals     | 1,2.5,0.0\\n-3,4e-1,1.0\\n5,6,2\\n7,8,0\\n9,10,1\\n
			a byte order mark      | \\ufeff1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1\\n
			""")
	void theSameTableIsReadFromEveryForm(String form, String text) throws IOException {
		Dataset table = read(unescaped(text).getBytes(StandardCharsets.UTF_8));
		assertThat(table.columns()).as(form).isEqualTo(2);
		assertThat(table.classes()).isEqualTo(3);
		assertThat(table.labels()).containsExactly(0, 1, 2, 0, 1);
		assertThat(table.features()).containsExactly(1, 2.5f, -3, 0.4f, 5, 6, 7, 8, 9, 10);
	}

	@Test
	void aGzipFileGivesTheSameTable() throws IOException {
		Path plain = Files.writeString(this.directory.resolve("t.csv"), GOOD);
		Path packed = Files.write(this.directory.resolve("t.csv.gz"), gzip(GOOD));
		assertThat(TableReader.read(packed).sha256()).isEqualTo(TableReader.read(plain).sha256());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			1,2,0\\n1,2\\n                  | line 2, column 3 | has 2 columns, but line 1 has 3
			1,2,0\\n1,2,0,4\\n              | line 2, column 4 | has 4 columns, but line 1 has 3
			1,2,0\\n1,x,1\\n                | line 2, column 2 | 'x' is not a number
			1,x,0\\n1,2,1\\n                | line 1, column 2 | 'x' is not a number
			a,b,c\\n1,2,0\\n1,y,1\\n        | line 3, column 2 | 'y' is not a number
			1,2,0\\n1,,1\\n                 | line 2, column 2 | the cell is empty
			1,2,0\\n1,NaN,1\\n              | line 2, column 2 | 'NaN' is not a finite number
			1,2,0\\n-inf,2,1\\n             | line 2, column 1 | '-inf' is not a finite number
			1,2,0\\n1e39,2,1\\n             | line 2, column 1 | exceeds the range of a 32-bit float
			1,2,0\\n1,2f,1\\n               | line 2, column 2 | '2f' is not a number
			1,2,0\\n1,0x1p3,1\\n            | line 2, column 2 | '0x1p3' is not a number
			1,2,0\\n1,2,1.5\\n              | line 2, column 3 | must be a whole number in 0..9999, got '1.5'
			1,2,0\\n1,2,-1\\n               | line 2, column 3 | must be a whole number in 0..9999, got '-1'
			1,2,0\\n1,2,10000\\n            | line 2, column 3 | must be a whole number in 0..9999, got '10000'
			1,2,0\\n1,2,cat\\n              | line 2, column 3 | 'cat' is not a number
			1,2,0\\n1;2;1\\n                | line 2, column 2 | has 1 columns, but line 1 has 3
			1\\n2\\n                        | line 1, column 1 | there is one column
			\\n\\n                          | line 1, column 1 | the table is empty
			\"\"                            | line 1, column 1 | the table is empty
			""")
	void aMalformedTableFailsWithLineAndColumn(String text, String place, String what) {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(unescaped(text).getBytes(StandardCharsets.UTF_8)))
			.withMessageStartingWith("table.csv " + place + ": ")
			.withMessageContaining(what);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			1,2,0\\n1,2,1\\n                             | holds 2 rows, but at least 5
			1,2,0\\n1,2,0\\n1,2,0\\n1,2,0\\n1,2,0\\n     | every row is of class 0 (column 3)
			""")
	void aTableUnsuitableForTrainingIsRejected(String text, String what) {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(unescaped(text).getBytes(StandardCharsets.UTF_8)))
			.withMessageContaining(what);
	}

	@Test
	void aFileWithoutLineEndsDoesNotFillTheMemory() {
		byte[] zeros = new byte[3 << 20];
		Arrays.fill(zeros, (byte) '1');
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> read(zeros))
			.withMessageContaining("line 1: longer than 1048576 characters");
	}

	@Test
	void aTruncatedGzipFileIsReportedAsDamaged() throws IOException {
		byte[] packed = gzip(GOOD.repeat(100));
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(Arrays.copyOf(packed, packed.length / 2)))
			.withMessageContaining("damaged");
	}

	@Test
	void theErrorNamesAMissingFileOrADirectory() {
		Path missing = this.directory.resolve("missing.csv");
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> TableReader.read(missing))
			.withMessageContaining("missing.csv")
			.withMessageContaining("no such file");
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> TableReader.read(this.directory))
			.withMessageContaining(this.directory.toString());
	}

	private static Dataset read(byte[] content) throws IOException {
		return TableReader.read("table.csv", new ByteArrayInputStream(content));
	}

	private static String unescaped(String text) {
		return text.replace("\\n", "\n").replace("\\r", "\r").replace("\\ufeff", "\ufeff");
	}

	private static byte[] gzip(String text) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream output = new GZIPOutputStream(bytes)) {
			output.write(text.getBytes(StandardCharsets.UTF_8));
		}
		return bytes.toByteArray();
	}

}
