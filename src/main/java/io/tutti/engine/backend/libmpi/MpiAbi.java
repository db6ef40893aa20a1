package io.tutti.engine.backend.libmpi;

import java.lang.foreign.ValueLayout;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;

/**
 * What one family of MPI libraries has compiled into its users: how handles look and what
 * the predefined ones are. Handles are {@code long}s here, whatever their size there.
 */
sealed interface MpiAbi permits OpenMpiAbi, MpichAbi {

	/** What people call the family. */
	String name();

	/** How a handle is passed and stored. */
	ValueLayout handle();

	long commWorld();

	long errorsReturn();

	/** The 16-bit floats travel as 16-bit integers; MPI has no arithmetic for them. */
	long type(DataType type);

	/** The predefined operator; for {@link ReduceOp#AVERAGE} the sum. */
	long op(ReduceOp op);

	int anySource();

	int anyTag();

	/** The address that stands for "in place". */
	long inPlace();

	/** Attribute key of the largest tag. */
	int tagUpperBound();

	/** Error class of a message that is larger than its buffer. */
	int truncated();

	/** Offset of the source in a status. */
	int statusSource();

	/** Offset of the tag in a status. */
	int statusTag();

}
