package io.tutti.engine.control;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes records by their components, in order and big endian.
 * <p>
 * Numbers take their size, a boolean and an enum constant (its ordinal, -1 for
 * {@code null}) one byte, a duration its nanoseconds in 8. Texts, byte arrays and lists
 * follow their length in 4 bytes. Another component that may be {@code null} follows a
 * byte that states whether it is present. A record within a record has no length.
 * <p>
 * Decoding checks each length against the remaining bytes before it allocates, so memory
 * is bounded by the size of the frame. Ranges are checked by the constructors of the
 * records. Whatever the bytes are, the result is a record or a
 * {@link MalformedFrameException}.
 */
public final class RecordCodec {

	/** Longer texts are truncated, since they are only for display. */
	static final int MAX_TEXT_CHARACTERS = 8192;

	private static final int NO_CONSTANT = -1;

	private interface Writer {

		void write(DataOutputStream out, @Nullable Object value) throws IOException;

	}

	private interface Reader {

		@Nullable Object read(ByteBuffer in) throws MalformedFrameException;

	}

	/**
	 * The encoding of one type.
	 *
	 * @param leastBytes its minimum size, which bounds the count of a list
	 */
	private record Field(int leastBytes, Writer writer, Reader reader) {
	}

	private static final Field INT32 = new Field(Integer.BYTES, (out, value) -> out.writeInt((int) value),
			ByteBuffer::getInt);

	private static final Field INT64 = new Field(Long.BYTES, (out, value) -> out.writeLong((long) value),
			ByteBuffer::getLong);

	private static final Field FLAG = new Field(Byte.BYTES, (out, value) -> out.writeBoolean((boolean) value),
			(in) -> in.get() != 0);

	private static final Field BYTES = new Field(Integer.BYTES, (out, value) -> {
		out.writeInt(((byte[]) value).length);
		out.write((byte[]) value);
	}, RecordCodec::readBytes);

	private static final Field TEXT = new Field(Integer.BYTES, (out, value) -> {
		String text = (String) value;
		String kept = text.substring(0, Math.min(text.length(), MAX_TEXT_CHARACTERS));
		BYTES.writer().write(out, kept.getBytes(StandardCharsets.UTF_8));
	}, (in) -> new String(readBytes(in), StandardCharsets.UTF_8));

	private static final Field DURATION = new Field(Long.BYTES,
			(out, value) -> out.writeLong(TimeUnit.NANOSECONDS.convert((Duration) value)),
			(in) -> Duration.ofNanos(in.getLong()));

	private static final Map<Class<?>, Field> PLAIN = Map.of(int.class, INT32, Integer.class, INT32, long.class, INT64,
			Long.class, INT64, boolean.class, FLAG, byte[].class, BYTES, String.class, TEXT, Duration.class, DURATION);

	private static final ClassValue<Field> RECORDS = new ClassValue<>() {

		@Override
		protected Field computeValue(Class<?> type) {
			return record(type);
		}

	};

	private RecordCodec() {
	}

	/** Encodes a record. */
	public static byte[] encode(Record value) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try {
			write(value, new DataOutputStream(bytes));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	static void write(Record value, DataOutputStream out) throws IOException {
		RECORDS.get(value.getClass()).writer().write(out, value);
	}

	/**
	 * Decodes a record from all remaining bytes.
	 * @throws MalformedFrameException if the bytes are not a valid record of the type
	 */
	public static <T> T decode(Class<T> type, ByteBuffer in) throws MalformedFrameException {
		try {
			T value = type.cast(RECORDS.get(type).reader().read(in));
			if (in.hasRemaining()) {
				throw new MalformedFrameException(in.remaining() + " bytes too many in a frame");
			}
			return value;
		}
		catch (BufferUnderflowException ex) {
			throw new MalformedFrameException("a frame ends within a field");
		}
	}

	/**
	 * Exchanges this rank's record for the records of all ranks, by rank.
	 * @param own at most {@value MetadataExchange#MAX_BYTES} bytes when encoded
	 * @throws MalformedFrameException if the bytes of a rank are not a valid record
	 * @throws IOException if the other ranks cannot be reached by the deadline
	 */
	public static <T extends Record> List<T> allGather(Class<T> type, T own, MetadataExchange exchange,
			Deadline deadline) throws IOException {
		List<T> records = new ArrayList<>();
		for (byte[] record : exchange.allGather(encode(own), deadline)) {
			records.add(decode(type, ByteBuffer.wrap(record)));
		}
		return records;
	}

	private static Field record(Class<?> type) {
		RecordComponent[] components = type.getRecordComponents();
		Constructor<?> constructor = constructor(type, components);
		Method[] accessors = Arrays.stream(components).map(RecordComponent::getAccessor).toArray(Method[]::new);
		Field[] fields = Arrays.stream(components)
			.map((component) -> field(component.getAnnotatedType()))
			.toArray(Field[]::new);
		return new Field(Arrays.stream(fields).mapToInt(Field::leastBytes).sum(), (out, value) -> {
			for (int i = 0; i < fields.length; i++) {
				fields[i].writer().write(out, component(accessors[i], value));
			}
		}, (in) -> {
			@Nullable Object[] values = new Object[fields.length];
			for (int i = 0; i < fields.length; i++) {
				values[i] = fields[i].reader().read(in);
			}
			return construct(constructor, values);
		});
	}

	private static Constructor<?> constructor(Class<?> type, RecordComponent[] components) {
		try {
			return type
				.getConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(type + " must be a public record", ex);
		}
	}

	private static @Nullable Object component(Method accessor, Object value) {
		try {
			return accessor.invoke(value);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("cannot read " + accessor, ex);
		}
	}

	/** A constructor rejects values out of range. */
	private static Object construct(Constructor<?> constructor, @Nullable Object[] values)
			throws MalformedFrameException {
		try {
			return constructor.newInstance(values);
		}
		catch (InvocationTargetException ex) {
			throw new MalformedFrameException(String.valueOf(ex.getCause().getMessage()));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("cannot call " + constructor, ex);
		}
	}

	private static Field field(AnnotatedType annotated) {
		boolean nullable = annotated.isAnnotationPresent(Nullable.class);
		if (annotated.getType() instanceof Class<?> type && type.isEnum()) {
			return constant(type, nullable);
		}
		Field field = present(annotated);
		return nullable ? optional(field) : field;
	}

	private static Field present(AnnotatedType annotated) {
		if (annotated instanceof AnnotatedParameterizedType generic) {
			return list(field(generic.getAnnotatedActualTypeArguments()[0]));
		}
		Class<?> type = (Class<?>) annotated.getType();
		Field plain = PLAIN.get(type);
		if (plain == null && !type.isRecord()) {
			throw new IllegalStateException("no encoding of " + type);
		}
		return (plain != null) ? plain : RECORDS.get(type);
	}

	private static Field constant(Class<?> type, boolean nullable) {
		Object[] constants = type.getEnumConstants();
		return new Field(Byte.BYTES,
				(out, value) -> out.writeByte((value != null) ? ((Enum<?>) value).ordinal() : NO_CONSTANT), (in) -> {
					int ordinal = in.get();
					if (ordinal == NO_CONSTANT && nullable) {
						return null;
					}
					if (ordinal < 0 || ordinal >= constants.length) {
						throw new MalformedFrameException(
								"an ordinal must be in 0.." + (constants.length - 1) + ", got " + ordinal);
					}
					return constants[ordinal];
				});
	}

	private static Field optional(Field field) {
		return new Field(Byte.BYTES, (out, value) -> {
			out.writeBoolean(value != null);
			if (value != null) {
				field.writer().write(out, value);
			}
		}, (in) -> (in.get() != 0) ? field.reader().read(in) : null);
	}

	private static Field list(Field element) {
		return new Field(Integer.BYTES, (out, value) -> {
			List<?> items = (List<?>) value;
			out.writeInt(items.size());
			for (Object item : items) {
				element.writer().write(out, item);
			}
		}, (in) -> {
			int count = length(in, "a list of ", element.leastBytes());
			List<@Nullable Object> items = new ArrayList<>(count);
			for (int i = 0; i < count; i++) {
				items.add(element.reader().read(in));
			}
			return items;
		});
	}

	private static byte[] readBytes(ByteBuffer in) throws MalformedFrameException {
		byte[] bytes = new byte[length(in, "a text of ", Byte.BYTES)];
		in.get(bytes);
		return bytes;
	}

	/** Reads the count of elements and checks that so many can follow. */
	private static int length(ByteBuffer in, String what, int leastBytes) throws MalformedFrameException {
		int count = in.getInt();
		if (count < 0 || count > in.remaining() / leastBytes) {
			throw new MalformedFrameException(what + count + " in a frame with " + in.remaining() + " bytes left");
		}
		return count;
	}

}
