import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment(); Arena arena = Arena.ofConfined()) {
        long[] array = { group.rank() };
        group.allReduce(array, ReduceOp.MAX);
        IO.println("array: " + array[0]);

        ByteBuffer bytes = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        bytes.putInt(4, 5).position(4).limit(8);
        group.allReduce(bytes, DataType.INT32, ReduceOp.SUM);
        IO.println("byte buffer: " + bytes.getInt(4));

        MemorySegment segment = arena.allocate(ValueLayout.JAVA_BYTE, 3);
        segment.set(ValueLayout.JAVA_BYTE, 2, (byte) 7);
        group.allReduce(segment.asSlice(1), DataType.UINT8, ReduceOp.SUM);
        IO.println("segment: " + segment.get(ValueLayout.JAVA_BYTE, 2));
    }
}
