import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        MemorySegment buffer = group.allocate(1 << 20);
        buffer.setAtIndex(ValueLayout.JAVA_FLOAT, 3, group.rank() + 1);
        group.allReduce(buffer, DataType.FLOAT32, ReduceOp.SUM);
        IO.println(buffer.getAtIndex(ValueLayout.JAVA_FLOAT, 3) + ", " + buffer.getAtIndex(ValueLayout.JAVA_FLOAT, 4));
        group.free(buffer);
    }
}
