package io.tutti.training;

import java.io.ByteArrayOutputStream;

import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.ArchiveWriter;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.DeviceOptional;
import org.bytedeco.pytorch.InputArchive;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OutputArchive;

/**
 * Saves and loads an optimizer's state as bytes in libtorch's archive format.
 */
final class OptimizerArchive {

	private OptimizerArchive() {
	}

	static byte[] save(Optimizer optimizer) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputArchive archive = new OutputArchive(); Writer writer = new Writer(bytes)) {
			optimizer.save(archive);
			archive.save_to(writer);
		}
		return bytes.toByteArray();
	}

	/** Loads a state onto a device; the state may come from another device. */
	static void load(Optimizer optimizer, byte[] bytes, Device device) {
		try (InputArchive archive = new InputArchive();
				BytePointer memory = new BytePointer(bytes);
				DeviceOptional place = new DeviceOptional(device)) {
			archive.load_from(memory, bytes.length, place);
			optimizer.load(archive);
		}
	}

	/** Collects the parts of an archive as libtorch writes them. */
	private static final class Writer extends ArchiveWriter {

		private final ByteArrayOutputStream bytes;

		Writer(ByteArrayOutputStream bytes) {
			this.bytes = bytes;
		}

		@Override
		public long call(Pointer piece, long size) {
			byte[] copy = new byte[Math.toIntExact(size)];
			new BytePointer(piece).get(copy);
			this.bytes.write(copy, 0, copy.length);
			return size;
		}

	}

}
