import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        float[] weights = { 1, 2, 3 };
        float[] bias = { group.rank() };
        List<MemorySegment> gradients = List.of(MemorySegment.ofArray(weights), MemorySegment.ofArray(bias));
        group.allReduce(gradients, DataType.FLOAT32, ReduceOp.SUM);
        IO.println(Arrays.toString(weights) + " " + Arrays.toString(bias));
        group.broadcastAsync(gradients, DataType.FLOAT32, 0).await();
    }
}
