import io.tutti.*;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        float[] values = { group.rank() + 1 };
        group.allReduce(values, ReduceOp.SUM);
        IO.println(values[0] + " on rank " + group.rank());
    }
}
