package io.tutti.engine.algorithm.kernel;

import java.util.EnumMap;
import java.util.Map;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;

/**
 * Reductions block by block through arrays: for elements that vector instructions do not
 * take as they are, and for JVMs without the vector module.
 */
final class StagedLoops {

	/** Made when first needed: most groups reduce one type. */
	private final Map<DataType, Block> blocks = new EnumMap<>(DataType.class);

	void reduce(DataType type, ReduceOp op, long target, long left, long right, long count) {
		Block block = block(type);
		int most = Block.BYTES / type.bytes();
		for (long done = 0; done < count; done += most) {
			long offset = done * type.bytes();
			block.reduce(op, target + offset, left + offset, right + offset, (int) Math.min(most, count - done));
		}
	}

	void divide(DataType type, long target, long count, int divisor) {
		Block block = block(type);
		int most = Block.BYTES / type.bytes();
		for (long done = 0; done < count; done += most) {
			block.divide(target + done * type.bytes(), (int) Math.min(most, count - done), divisor);
		}
	}

	private Block block(DataType type) {
		Block block = this.blocks.get(type);
		if (block == null) {
			block = newBlock(type);
			this.blocks.put(type, block);
		}
		return block;
	}

	private static Block newBlock(DataType type) {
		return switch (type) {
			case FLOAT32 -> new Float32Block();
			case FLOAT64 -> new Float64Block();
			case FLOAT16 -> new Float16Block();
			case BFLOAT16 -> new Bfloat16Block();
			case INT8 -> new Int8Block();
			case UINT8 -> new Uint8Block();
			case INT32 -> new Int32Block();
			case INT64 -> new Int64Block();
		};
	}

}
