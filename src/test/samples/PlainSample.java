import io.tutti.engine.*;
import java.lang.foreign.*;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        MemorySegment value = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, group.rank() + 1);
        group.allReduce(value, DataType.FLOAT32, ReduceOp.SUM);
        IO.println(value.get(ValueLayout.JAVA_FLOAT, 0) + " on rank " + group.rank());
    }
}
