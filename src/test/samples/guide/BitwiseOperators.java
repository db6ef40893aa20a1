import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        long[] seen = { 1L << group.rank() };
        group.allReduce(seen, ReduceOp.BITWISE_OR);
        int[] converged = { group.rank() };
        group.allReduce(converged, ReduceOp.LOGICAL_AND);
        IO.println("ranks " + Long.toBinaryString(seen[0]) + ", all converged: " + (converged[0] == 1));
    }
}
