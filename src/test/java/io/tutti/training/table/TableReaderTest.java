package io.tutti.training.table;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
		assertThat(table.features()).containsExactly(1, 2.5f, -3, 0.4, 5, 6, 7, 8, 9, 10);
	}

	@Test
	void aGzipFileGivesTheSameTable() throws IOException {
		Path plain = Files.writeString(this.directory.resolve("t.csv"), GOOD);
		Path packed = Files.write(this.directory.resolve("t.csv.gz"), gzip(GOOD));
		assertThat(TableReader.read(TableSource.of(packed)).sha256())
			.isEqualTo(TableReader.read(TableSource.of(plain)).sha256());
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
			1,2,0\\n1;2;1\\n                | line 2, column 2 | has 1 column, but line 1 has 3
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
			1,2,0\\n1,2,1\\n                             | holds 2 rows, but at least 5 are needed
			1,2,0\\n                                    | holds 1 row, but at least 5 are needed
			1,2,0\\n1,2,0\\n1,2,0\\n1,2,0\\n1,2,0\\n     | every row is of class 0 (column 3)
			1,2,5\\n1,2,5\\n1,2,5\\n1,2,5\\n1,2,5\\n     | every row is of class 5 (column 3)
			""")
	void aTableUnsuitableForTrainingIsRejected(String text, String what) {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(unescaped(text).getBytes(StandardCharsets.UTF_8)))
			.withMessageContaining(what);
	}

	@Test
	void aHeaderThatLooksLikeARowIsNoRow() throws IOException {
		String rows = "1,2,3,cat\n4,5,6,dog\n7,8,9,cat\n1,5,9,dog\n3,6,9,cat\n";
		String text = "400,402,404,species\n" + rows;
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(text.getBytes(StandardCharsets.UTF_8)))
			.withMessage("table.csv line 1, column 4: the first line is a row whose class no other row has, or names of"
					+ " columns; give --header or --no-header");
		assertThat(read(text, true).classNames()).containsExactly("cat", "dog");
		assertThat(read(text, false).classNames()).containsExactly("cat", "dog", "species");
		assertThat(read(rows.getBytes(StandardCharsets.UTF_8)).classNames()).containsExactly("cat", "dog");
	}

	@Test
	void aHashCoversMoreThanA32BitFloatHolds() throws IOException {
		String rows = "1.5,2,0\n3,4,1\n5,6,0\n7,8,1\n";
		String large = rows + "1700000000,2,0\n";
		assertThat(read(large.getBytes(StandardCharsets.UTF_8)).sha256())
			.isNotEqualTo(read((rows + "1700000001,2,0\n").getBytes(StandardCharsets.UTF_8)).sha256());
		assertThat(Digits.read().sha256())
			.isEqualTo("d50b314f4c01a7378b0ed18afaecbc3db0944260e74b98c29b27eed09152fe5a");
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

	/** At each position relative to the end of the reader's buffer. */
	@Test
	void damageAfterTheFirstGzipMemberIsReported() throws IOException {
		for (int rows = 0; rows < 300; rows++) {
			byte[] first = gzip(GOOD + noise(rows));
			byte[] second = gzip("9,10,1\n");
			assertThat(read(joined(first, second)).rows()).isEqualTo(read(first).rows() + 1);
			second[2] = 9;
			assertDamaged(joined(first, second));
			assertDamaged(joined(first, new byte[] { 1 }));
			assertDamaged(joined(first, Arrays.copyOf(gzip("9,10,1\n"), 6)));
		}
	}

	/** Rows that compress badly, so that the size grows slowly. */
	private static String noise(int rows) {
		Random random = new Random(rows);
		return Stream.generate(() -> random.nextInt() + "," + random.nextInt() + ",1\n")
			.limit(rows)
			.collect(Collectors.joining());
	}

	private static byte[] joined(byte[] first, byte[] second) {
		byte[] all = Arrays.copyOf(first, first.length + second.length);
		System.arraycopy(second, 0, all, first.length, second.length);
		return all;
	}

	@Test
	void aShortTableIsCheckedWholeAndALongOneAtItsBeginning() throws IOException {
		String row = "1,2,0\n";
		assertRefused("", "the table is empty");
		assertRefused("1\n2\n", "there is one column");
		assertRefused(row + "4,x,6\n", "line 2, column 2: 'x' is not a number");
		assertRefused(row.repeat(5), "every row is of class 0");
		String longRows = row.repeat(TableReader.CHECKED_CHARS / row.length() + 2_000);
		TableReader.check(TableSource.of(Files.writeString(this.directory.resolve("t.csv"), longRows + "4,x,6\n")));
		assertRefused("4,x,6\n" + longRows, "line 1, column 2: 'x' is not a number");
	}

	private void assertRefused(String text, String message) throws IOException {
		TableSource source = TableSource.of(Files.writeString(this.directory.resolve("t.csv"), text));
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> TableReader.check(source))
			.withMessageContaining(message);
	}

	private static void assertDamaged(byte[] content) {
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> read(content))
			.withMessageContaining("damaged");
	}

	@Test
	void theErrorNamesAMissingFileOrADirectory() {
		Path missing = this.directory.resolve("missing.csv");
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(TableSource.of(missing)))
			.withMessageContaining("missing.csv")
			.withMessageContaining("no such file");
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(TableSource.of(this.directory)))
			.withMessageContaining(this.directory.toString());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					quoted cells         | ,   |       |     | '1','2.5','0'\\n'-3','4e-1',1\\n5,6,2\\n7, '8' ,0\\n9,10,1\\n
					semicolons           | ;   |       |     | 1;2.5;0\\n-3;4e-1;1\\n5;6;2\\n7;8;0\\n9;10;1\\n
					tabulators           | tab |       |     | 1\\t2.5\\t0\\n-3\\t4e-1\\t1\\n5\\t6\\t2\\n7\\t8\\t0\\n9\\t10\\t1\\n
					the label first      | ,   | 1     |     | 0,1,2.5\\n1,-3,4e-1\\n2,5,6\\n0,7,8\\n1,9,10\\n
					the label by name    | ,   | class |     | a,class,b\\n1,0,2.5\\n-3,1,4e-1\\n5,2,6\\n7,0,8\\n9,1,10\\n
					a quoted name        | ,   | a, b  |     | 'a, b',c,d\\n0,1,2.5\\n1,-3,4e-1\\n2,5,6\\n0,7,8\\n1,9,10\\n
					numbers as header    | ,   |       | yes | 0,1,2\\n1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1\\n
					a blank name         | ,   |       | yes | ,b,c\\n1,2.5,0\\n-3,4e-1,1\\n5,6,2\\n7,8,0\\n9,10,1\\n
					names of the classes | ,   |       |     | 1,2.5,ant\\n-3,4e-1,bee\\n5,6,'c,d'\\n7,8, ant\\n9,10,'bee'\\n
					other order of names | ,   | 3     | no  | 1,2.5,a\\n-3,4e-1,b b\\n5,6,z\\n7,8,a\\n9,10,b b\\n
					""")
	void theSameTableIsReadWithEveryOption(String form, String separator, String label, String header, String text)
			throws IOException {
		TableSource source = new TableSource(Path.of("table.csv"), null, TableSource.separator(separator), label,
				(header != null) ? header.equals("yes") : null);
		Dataset table = TableReader.read(source, new ByteArrayInputStream(
				unescaped(text).replace('\'', '"').replace("\\t", "\t").getBytes(StandardCharsets.UTF_8)));
		assertThat(table.columns()).as(form).isEqualTo(2);
		assertThat(table.classes()).isEqualTo(3);
		assertThat(table.labels()).containsExactly(0, 1, 2, 0, 1);
		assertThat(table.features()).containsExactly(1, 2.5f, -3, 0.4, 5, 6, 7, 8, 9, 10);
	}

	@Test
	void classesAreNumberedByTheirSortedNames() throws IOException {
		Dataset table = read("1,pear\n2,apple\n3,pear\n4,fig\n5,apple\n".getBytes(StandardCharsets.UTF_8));
		assertThat(table.classNames()).containsExactly("apple", "fig", "pear");
		assertThat(table.labels()).containsExactly(2, 0, 2, 1, 0);
		Dataset renamed = read("1,pear\n2,apple\n3,pear\n4,grape\n5,apple\n".getBytes(StandardCharsets.UTF_8));
		assertThat(renamed.labels()).isEqualTo(table.labels());
		assertThat(renamed.sha256()).isNotEqualTo(table.sha256());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					1,2,cat\\n1,2,NA\\n             | line 2, column 3 | 'NA' is a missing value; fill in the value or remove
					1,?,0\\n                          | line 1, column 2 | '?' is a missing value
					NA,NA,cat\\n1,2,dog\\n          | line 1, column 1 | 'NA' is a missing value
					,b,class\\n1,2,0\\n             | line 1, column 1 | the cell is empty; fill in the value or remove the row, or give --header if the line names the columns
					a,,class\\n1,2,0\\n             | line 1, column 1 | 'a' is not a number; give --header if the line names the columns
					a,b,c\\n1,2,0\\n1,,1\\n       | line 3, column 2 | the cell is empty; fill in the value or remove the row (column 'b')
					a,b,c\\n'1\\n',2,0\\n1,x,1\\n | line 4, column 2 | 'x' is not a number (column 'b')
					1,2,0\\n1,2,dog\\n              | line 2, column 3 | 'dog' is not a number, but the class in line 1 is one
					1,2,dog\\n1,2,0\\n              | line 2, column 3 | '0' is a number, but the class in line 1 is a text
					1,2,'dog\\ncat'\\n             | line 1, column 3 | the class spans several lines; is a closing quote missing?
					1,2,'dog\\n1,2,cat\\n           | line 1, column 3 | the cell begins with a quote, but the file ends without a closing one
					1,2,0\\n'1,2,3,0                | line 2, column 1 | the file ends without a closing one
					1,2,0\\n1,2,'0                  | line 2, column 3 | the file ends without a closing one
					1,2,0\\n1,2,'0''                | line 2, column 3 | the file ends without a closing one
					1,2,0\\n1,2,0\\n'              | line 3, column 1 | the file ends without a closing one
					0,1,2,3\\n1,2,3,0\\n            | line 1, column 1 | give --header or --no-header
					1;2;0\\n                          | line 1, column 1 | give --separator if the cells are separated by ';'
					""")
	void aCellThatCannotBeReadIsNamed(String text, String place, String what) {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read(unescaped(text).replace('\'', '"').getBytes(StandardCharsets.UTF_8)))
			.withMessageStartingWith("table.csv " + place + ": ")
			.withMessageContaining(what);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					9     | a,b,c\\n1,2,0\\n   | line 1, column 3: the label is column 9, but the line has 3 columns
					kind  | a,b,c\\n1,2,0\\n   | line 1: no column named 'kind'; give the label's number, or one of the names a, b, c
					a     | a,b,a\\n1,2,0\\n   | line 1: 2 columns named 'a'
					2     | a,b,c\\n1,0.5,2\\n | line 2, column 2: the class must be a whole number in 0..9999, got '0.5' (column 'b')
					""")
	void aLabelThatTheTableLacksIsNamed(String label, String text, String what) {
		TableSource source = new TableSource(Path.of("table.csv"), null, ',', label, null);
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(source,
					new ByteArrayInputStream(unescaped(text).getBytes(StandardCharsets.UTF_8))))
			.withMessageContaining("table.csv " + what);
	}

	@Test
	void aQuoteInsideACellIsNamed() {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> read("1,2,0\n\n\"1\"2,3,1\n".getBytes(StandardCharsets.UTF_8)))
			.withMessageStartingWith("table.csv line 3: Unexpected character after closing quote: '2'");
	}

	@Test
	void aMissingClosingQuoteDoesNotFillTheMemory() {
		byte[] text = ("1,2,0\n3,\"4,1\n" + "5,6,1\n".repeat(300_000)).getBytes(StandardCharsets.UTF_8);
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> read(text))
			.withMessageStartingWith("table.csv line 2: longer than 1048576 characters")
			.withMessageContaining("closing quote");
	}

	@Test
	void aTableOfManyRowsAndOneOfManyColumnsAreRead() throws IOException {
		Dataset rows = read("1,2,0\n3,4,1\n".repeat(500_000).getBytes(StandardCharsets.UTF_8));
		assertThat(rows.rows()).isEqualTo(1_000_000);
		Dataset columns = read(("1,".repeat(200_000) + "0\n" + "2,".repeat(200_000) + "1\n").repeat(3)
			.getBytes(StandardCharsets.UTF_8));
		assertThat(columns.columns()).isEqualTo(200_000);
	}

	@Test
	void textThatIsNotUtf8IsNamed() {
		byte[] latin = "1,2,K\u00f6ln\n1,2,Bonn\n".getBytes(StandardCharsets.ISO_8859_1);
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> read(latin))
			.withMessageContaining("is not UTF-8");
	}

	@Test
	void aFileNamedGzThatIsNotGzipIsNamed() throws IOException {
		Path named = this.directory.resolve("table.csv.gz");
		Files.write(named, new byte[] { (byte) 0x9c, 3, (byte) 0xff, (byte) 0x80, 1 });
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(TableSource.of(named)))
			.withMessage(named + " is not gzip: it does not start with the bytes 1f 8b");
		Files.write(named, gzip("1,2,K\u00f6ln\n".getBytes(StandardCharsets.ISO_8859_1)));
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(TableSource.of(named)))
			.withMessage(named + " is not UTF-8 text; convert it to UTF-8");
	}

	@Test
	void testRowsComeFromTheirOwnFile() throws IOException {
		Dataset table = TableReader.read(source("a,b,c\n1,2,ant\n3,4,bee\n", "a,b,c\n5,6,bee\n"));
		assertThat(table.testRows()).isEqualTo(1);
		assertThat(table.labels()).containsExactly(0, 1, 1);
		DataSplit split = DataSplit.of(table, 1);
		assertThat(split.training().labels()).containsExactly(0, 1);
		assertThat(split.test().labels()).containsExactly(1);
		assertThat(split.test().features()).as("scaled by the training rows").containsExactly(3, 3);
		Dataset one = TableReader.read(source("a,b,c\n1,2,ant\n3,4,bee\n5,6,bee\n", "a,b,c\n5,6,bee\n"));
		assertThat(one.sha256()).isNotEqualTo(table.sha256());
	}

	/** The header of the test rows is no second row of its class. */
	@Test
	void aHeaderThatLooksLikeARowIsNoRowOfATableWithTestRows() throws IOException {
		String header = "0,1,2,species\n";
		TableSource source = source(header + "1.5,2,3,cat\n4,5,6,dog\n7,8,9,cat\n", header + "1,5,9,dog\n");
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> TableReader.read(source))
			.withMessageContaining("training.csv line 1, column 4: the first line is a row whose class no other row");
		assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> TableReader.check(source));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					a,b,c\\n1,2,cat\\n1,2,dog\\n | a,d,c\\n1,2,cat\\n | line 1, column 2: the column is named 'd', but in the training table 'b'
					1,2,cat\\n1,2,dog\\n           | 1,2,cow\\n           | line 1, column 3: the class 'cow' does not occur in
					1,2,0\\n1,2,1\\n               | 1,2,2\\n             | line 1, column 3: the class '2' does not occur in
					1,2,0\\n1,2,2\\n               | 1,2,1\\n             | line 1, column 3: the class '1' does not occur in
					1,2,0\\n1,2,1\\n               | 1,2,3,1\\n           | line 1, column 4: the line has 4 columns, but the training table has 3
					1,2,0\\n1,2,1\\n               | \\n                  | line 1, column 1: the table is empty
					1,2,0\\n1,2,1\\n               | a,b,c\\n             | holds 0 rows, but at least 1 is needed
					1,2,0\\n1,2,1\\n               | 1,2,cat\\n           | 'cat' is not a number, but the class in line 1 of the training table is one
					""")
	void aTestTableThatDoesNotMatchIsNamed(String training, String test, String what) {
		assertThatExceptionOfType(MalformedDataException.class)
			.isThrownBy(() -> TableReader.read(source(unescaped(training), unescaped(test))))
			.withMessageContaining("test.csv")
			.withMessageContaining(what);
	}

	private TableSource source(String training, String test) throws IOException {
		return new TableSource(Files.writeString(this.directory.resolve("training.csv"), training),
				Files.writeString(this.directory.resolve("test.csv"), test), ',', null, null);
	}

	private static Dataset read(byte[] content) throws IOException {
		return TableReader.read(TableSource.of(Path.of("table.csv")), new ByteArrayInputStream(content));
	}

	private static Dataset read(String content, boolean header) throws IOException {
		return TableReader.read(new TableSource(Path.of("table.csv"), null, ',', null, header),
				new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
	}

	private static String unescaped(String text) {
		return text.replace("\\n", "\n").replace("\\r", "\r").replace("\\ufeff", "\ufeff");
	}

	private static byte[] gzip(String text) throws IOException {
		return gzip(text.getBytes(StandardCharsets.UTF_8));
	}

	private static byte[] gzip(byte[] content) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream output = new GZIPOutputStream(bytes)) {
			output.write(content);
		}
		return bytes.toByteArray();
	}

}
