import java.util.Arrays;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        float[] values = { group.rank() + 1, 10 };
        float[] averages = new float[2];
        group.allReduce(values, averages, ReduceOp.AVERAGE);
        IO.println("out of place: " + Arrays.toString(values) + " -> " + Arrays.toString(averages));
        group.allReduce(values, ReduceOp.SUM);
        IO.println("in place: " + Arrays.toString(values));
    }
}
