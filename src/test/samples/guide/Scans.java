import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        long[] records = { 100 + group.rank() };
        long[] upToHere = new long[1];
        long[] before = { 0 };
        group.scan(records, upToHere, ReduceOp.SUM);
        group.exclusiveScan(records, before, ReduceOp.SUM);
        IO.println("this rank's records are " + before[0] + ".." + (upToHere[0] - 1));
    }
}
