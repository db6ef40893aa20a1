package io.tutti.training.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.tutti.engine.spi.Sha256;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(60)
class SafetensorsTest {

	private static final Runnable IGNORED = () -> {
	};

	private static final List<StoredTensor> TENSORS = List.of(
			tensor("mask", ElementType.BOOL, new byte[] { 1, 0, 1 }, 3L),
			tensor("b.weight", ElementType.F32, new byte[24], 2L, 3L),
			tensor("a.weight", ElementType.F32, new byte[] { 0, 0, -128, 63 }),
			tensor("empty", ElementType.F64, new byte[0], 4L, 0L),
			tensor("caf\u00e9", ElementType.I64, new byte[] { 7, 0, 0, 0, 0, 0, 0, 0 }, 1L));

	@TempDir
	private Path directory;

	@Test
	void aWrittenFileIsReadBack() throws Exception {
		Path file = this.directory.resolve("file");
		String sha256 = SafetensorsWriter.write(file, Map.of("format", "pt"), TENSORS, IGNORED);
		MessageDigest digest = Sha256.newDigest();
		digest.update(Files.readAllBytes(file));
		assertThat(sha256).isEqualTo(Sha256.hex(digest));
		try (SafetensorsReader reader = new SafetensorsReader(file)) {
			assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
				.contains("{\"__metadata__\":{\"format\":\"pt\"}");
			assertThat(reader.tensors())
				.containsExactlyInAnyOrderElementsOf(TENSORS.stream().map(StoredTensor::header).toList());
			for (int index = 0; index < reader.tensors().size(); index++) {
				TensorHeader header = reader.tensors().get(index);
				assertThat(reader.isComplete()).isFalse();
				assertThat(read(reader, index)).as(header.name()).isEqualTo(bytes(header.name()));
			}
			assertThat(reader.isComplete()).isTrue();
			assertThat(reader.sha256()).isEqualTo(sha256);
		}
	}

	/** The layout by the format's description, byte by byte. */
	@Test
	void aFileHasTheLayoutOfTheFormat() throws IOException {
		Path file = this.directory.resolve("file");
		SafetensorsWriter.write(file, Map.of(), List.of(tensor("x", ElementType.U8, new byte[] { 5, 6 }, 2L),
				tensor("y", ElementType.I16, new byte[] { 1, 2 }, 1L)), IGNORED);
		ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
		int header = Math.toIntExact(content.getLong());
		assertThat(header % 8).isZero();
		byte[] json = new byte[header];
		content.get(json);
		assertThat(new String(json, StandardCharsets.UTF_8).stripTrailing())
			.isEqualTo("{\"y\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[0,2]},"
					+ "\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}");
		assertThat(Arrays.copyOfRange(content.array(), content.position(), content.capacity())).containsExactly(1, 2, 5,
				6);
	}

	@Test
	void everyTruncationAndExtensionIsRejected() throws IOException {
		Path file = this.directory.resolve("file");
		SafetensorsWriter.write(file, Map.of(), TENSORS, IGNORED);
		byte[] whole = Files.readAllBytes(file);
		for (int length = 0; length < whole.length; length++) {
			assertRejected(Arrays.copyOf(whole, length));
		}
		assertRejected(Arrays.copyOf(whole, whole.length + 1));
	}

	@Test
	void noFlippedBitOfTheHeaderCausesAnotherFailure() throws IOException {
		Path file = this.directory.resolve("file");
		SafetensorsWriter.write(file, Map.of("format", "pt"), TENSORS, IGNORED);
		byte[] whole = Files.readAllBytes(file);
		int rejected = 0;
		for (int bit = 0; bit < 8 * 300; bit++) {
			byte[] damaged = whole.clone();
			damaged[bit / 8] ^= (byte) (1 << bit % 8);
			Files.write(file, damaged);
			try {
				new SafetensorsReader(file).close();
			}
			catch (IllegalArgumentException ex) {
				rejected++;
			}
		}
		assertThat(rejected).isGreaterThan(1500);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					[]                                                                    | 0 | does not begin with
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}} x              | 4 | its header
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}                | 8 | it has
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[4,8]}}                | 8 | overlap or leave a gap
					{'a':{'dtype':'F32','shape':[2],'data_offsets':[0,4]}}                | 4 | but its offsets are [0, 4]
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[4,0]}}                | 4 | but its offsets are [4, 0]
					{'a':{'dtype':'F32','shape':[-1],'data_offsets':[0,4]}}               | 4 | lacks a shape or offsets
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[0]}}                  | 4 | lacks a shape or offsets
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[0,null]}}             | 4 | lacks a shape or offsets
					{'a':{'dtype':'F32','shape':[1.5],'data_offsets':[0,4]}}              | 4 | its header
					{'a':{'dtype':'F32','shape':['1'],'data_offsets':[0,4]}}              | 4 | its header
					{'a':{'dtype':'F32','shape':[1]}}                                     | 4 | its header
					{'a':{'dtype':'F31','shape':[1],'data_offsets':[0,4]}}                | 4 | the unknown element type F31
					{'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4],'more':1}}       | 4 | its header
					{'a':null}                                                            | 4 | lacks a shape or offsets
					{'a':7}                                                               | 4 | its header
					{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1]},'b':{'dtype':'U8','shape':[1],'data_offsets':[0,1]}} | 1 | overlap or leave a gap
					{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1]},'a':{'dtype':'U8','shape':[1],'data_offsets':[1,2]}} | 2 | its header
					{'a':{'dtype':'U8','shape':[4294967296,4294967296],'data_offsets':[0,1]}}                                 | 1 | exceeds the range
					{'a':{'dtype':'U8','shape':[9223372036854775807],'data_offsets':[0,9223372036854775807]}}                 | 1 | bytes instead of
					{'a':{'dtype':'U8','shape':[1],'data_offsets':[9223372036854775806,9223372036854775807]}}                 | 1 | exceeds the range
					{'a':{'dtype':'U8','shape':[99999999999999999999],'data_offsets':[0,1]}}                                  | 1 | its header
					{'__metadata__':{'a':1}}                                              | 0 | its header
					{'__metadata__':{'a':{}}}                                             | 0 | its header
					{'__metadata__':7}                                                    | 0 | its header
					{'a':                                                                 | 0 | its header
					""")
	void aForgedHeaderIsRejected(String json, int dataBytes, String what) throws IOException {
		assertThat(assertRejected(file(json.replace('\'', '"'), dataBytes))).contains(what);
	}

	@Test
	void theLengthOfTheHeaderIsLimited() throws IOException {
		byte[] content = new byte[64];
		for (long length : new long[] { -1, Long.MIN_VALUE, Long.MAX_VALUE, 100_000_001 }) {
			ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putLong(length);
			assertThat(assertRejected(content)).contains("more than 100000000");
		}
		ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putLong(100_000_000);
		assertThat(assertRejected(content)).contains("more than the rest of the file");
	}

	@Test
	void aHeaderInAnotherEncodingIsRejected() throws IOException {
		byte[] text = "{}".getBytes(StandardCharsets.UTF_16LE);
		ByteBuffer content = ByteBuffer.allocate(Long.BYTES + text.length).order(ByteOrder.LITTLE_ENDIAN);
		content.putLong(text.length).put(text);
		assertRejected(content.array());
	}

	@Test
	void deeplyNestedJsonIsRejected() throws IOException {
		assertRejected(file("{\"a\":" + "[".repeat(1_000_000), 0));
	}

	@Test
	void twoTensorsOfOneNameAreNotWritten() {
		List<StoredTensor> twice = List.of(TENSORS.getFirst(), TENSORS.getFirst());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SafetensorsWriter.write(this.directory.resolve("file"), Map.of(), twice, IGNORED))
			.withMessageContaining("two tensors are named mask");
	}

	@Test
	void anExistingFileIsNotReplaced() throws IOException {
		Path file = Files.writeString(this.directory.resolve("file"), "kept");
		assertThatExceptionOfType(FileAlreadyExistsException.class)
			.isThrownBy(() -> SafetensorsWriter.write(file, Map.of(), TENSORS, IGNORED));
		assertThat(file).hasContent("kept");
	}

	private String assertRejected(byte[] content) throws IOException {
		Path file = Files.write(this.directory.resolve("rejected"), content);
		try (SafetensorsReader reader = new SafetensorsReader(file)) {
			throw new AssertionError("accepted: " + reader.tensors());
		}
		catch (IllegalArgumentException ex) {
			assertThat(ex).hasMessageContaining("rejected is not a valid safetensors file");
			return ex.getMessage();
		}
	}

	private static byte[] file(String json, int dataBytes) {
		byte[] text = json.getBytes(StandardCharsets.UTF_8);
		return ByteBuffer.allocate(Long.BYTES + text.length + dataBytes)
			.order(ByteOrder.LITTLE_ENDIAN)
			.putLong(text.length)
			.put(text)
			.array();
	}

	private static byte[] read(SafetensorsReader reader, int index) throws IOException {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment data = arena.allocate(reader.tensors().get(index).bytes());
			reader.read(reader.tensors().get(index), data, IGNORED);
			return data.toArray(ValueLayout.JAVA_BYTE);
		}
	}

	private static byte[] bytes(String name) {
		return TENSORS.stream()
			.filter((tensor) -> tensor.header().name().equals(name))
			.findFirst()
			.orElseThrow()
			.data()
			.toArray(ValueLayout.JAVA_BYTE);
	}

	private static StoredTensor tensor(String name, ElementType type, byte[] data, Long... shape) {
		return new StoredTensor(new TensorHeader(name, type, List.of(shape)), MemorySegment.ofArray(data));
	}

}
