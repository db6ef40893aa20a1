package io.tutti.engine.backend.libmpi;

import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * The binary interface of a family of MPI libraries: handle layout and predefined
 * handles. Handles are {@code long}s here, regardless of their native size.
 */
sealed interface MpiAbi permits OpenMpiAbi, MpichAbi {

	/** Name of the family. */
	String name();

	/** Native layout of a handle. */
	ValueLayout handle();

	long commWorld();

	long errorsReturn();

	/**
	 * Handle of a type. 16-bit floats map to 16-bit integers, since MPI has no 16-bit
	 * floats.
	 */
	long type(DataType type);

	/** The predefined operator; for {@link ReduceOp#AVERAGE} the sum. */
	long op(ReduceOp op);

	int anySource();

	int anyTag();

	/** The address {@code MPI_IN_PLACE}. */
	long inPlace();

	/** Attribute key {@code MPI_TAG_UB} of the largest tag. */
	int tagUpperBound();

	/** Error class {@code MPI_ERR_TRUNCATE}: a message is larger than its buffer. */
	int truncated();

	/** Offset of the source in a status. */
	int statusSource();

	/** Offset of the tag in a status. */
	int statusTag();

}
