package io.tutti.training.checkpoint;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.tutti.training.internal.TensorMemory;

/**
 * The description of a dictionary of tensors as {@code torch.save} writes it: a program
 * for Python's unpickler (protocol 2, PEP 307). The data of tensor {@code n} is in the
 * record {@code data/n} of the same archive.
 */
final class StateDictPickle {

	private static final int PROTOCOL = 2;

	private final ByteArrayOutputStream program = new ByteArrayOutputStream();

	private StateDictPickle() {
	}

	/** The program that creates the dictionary. */
	static byte[] of(List<TensorHeader> tensors) {
		StateDictPickle pickle = new StateDictPickle();
		pickle.operation(0x80).operation(PROTOCOL).operation('}').operation('(');
		for (int index = 0; index < tensors.size(); index++) {
			pickle.text(tensors.get(index).name()).tensor(tensors.get(index), index);
		}
		pickle.operation('u').operation('.');
		return pickle.program.toByteArray();
	}

	/** A call of the function that rebuilds a tensor. */
	private void tensor(TensorHeader header, int index) {
		String storage = storage(header.type());
		boolean untyped = storage.equals("UntypedStorage");
		global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2").operation('(');
		operation('(').text("storage")
			.global("torch", storage)
			.text(Integer.toString(index))
			.text("cpu")
			.number(untyped ? header.bytes() : header.bytes() / header.type().bytes())
			.operation('t')
			.operation('Q');
		number(0).numbers(header.shape()).numbers(strides(header.shape())).operation(0x89);
		global("collections", "OrderedDict").operation(')').operation('R');
		if (untyped) {
			global("torch", "uint" + 8 * header.type().bytes());
		}
		operation('t').operation('R');
	}

	/** Types that are newer than typed storages are kept as bytes. */
	private static String storage(ElementType type) {
		return switch (type) {
			case BOOL -> "BoolStorage";
			case U8 -> "ByteStorage";
			case I8 -> "CharStorage";
			case I16 -> "ShortStorage";
			case I32 -> "IntStorage";
			case I64 -> "LongStorage";
			case F16 -> "HalfStorage";
			case BF16 -> "BFloat16Storage";
			case F32 -> "FloatStorage";
			case F64 -> "DoubleStorage";
			case U16, U32, U64 -> "UntypedStorage";
		};
	}

	private static List<Long> strides(List<Long> shape) {
		long[] sizes = shape.stream().mapToLong(Long::longValue).toArray();
		return Arrays.stream(TensorMemory.rowMajor(sizes)).boxed().toList();
	}

	private StateDictPickle numbers(List<Long> numbers) {
		operation('(');
		numbers.forEach(this::number);
		return operation('t');
	}

	private StateDictPickle number(long number) {
		operation(0x8a).operation(Long.BYTES);
		this.program.writeBytes(littleEndian(Long.BYTES).putLong(number).array());
		return this;
	}

	private StateDictPickle text(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		operation('X');
		this.program.writeBytes(littleEndian(Integer.BYTES).putInt(bytes.length).array());
		this.program.writeBytes(bytes);
		return this;
	}

	private StateDictPickle global(String module, String name) {
		operation('c');
		this.program.writeBytes((module + "\n" + name + "\n").getBytes(StandardCharsets.US_ASCII));
		return this;
	}

	private StateDictPickle operation(int code) {
		this.program.write(code);
		return this;
	}

	private static ByteBuffer littleEndian(int bytes) {
		return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
	}

}
