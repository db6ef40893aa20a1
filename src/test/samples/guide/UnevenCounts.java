import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.LongStream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        int root = 0;
        // Rank r has r + 1 elements. Every rank passes the same counts.
        long[] counts = LongStream.rangeClosed(1, group.worldSize()).toArray();
        int[] part = new int[group.rank() + 1];
        Arrays.fill(part, 10 * (group.rank() + 1));
        int[] all = new int[(int) LongStream.of(counts).sum()];

        // Ranks other than the root have no memory for the whole.
        MemorySegment whole = (group.rank() == root) ? MemorySegment.ofArray(all) : MemorySegment.NULL;
        group.gather(MemorySegment.ofArray(part), whole, counts, DataType.INT32, root);
        IO.println("gathered " + Arrays.toString(all));
        Arrays.setAll(all, (i) -> i);
        group.scatter(whole, MemorySegment.ofArray(part), counts, DataType.INT32, root);
        IO.println("own part " + Arrays.toString(part));
    }
}
