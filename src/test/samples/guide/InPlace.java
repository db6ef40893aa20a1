import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        long bytes = Integer.BYTES;
        int[] all = new int[group.worldSize()];
        all[group.rank()] = group.rank() + 1;
        MemorySegment whole = MemorySegment.ofArray(all);
        MemorySegment own = whole.asSlice(group.rank() * bytes, bytes);

        group.allGather(own, whole, DataType.INT32);
        IO.println("gathered " + Arrays.toString(all));
        group.reduceScatter(whole, own, DataType.INT32, ReduceOp.SUM);
        IO.println("own sum " + all[group.rank()]);
        boolean root = group.rank() == 0;
        group.gather(own, root ? whole : MemorySegment.NULL, DataType.INT32, 0);
        IO.println("on the root " + Arrays.toString(all));
        group.scatter(root ? whole : MemorySegment.NULL, own, DataType.INT32, 0);
        group.scan(own, own, DataType.INT32, ReduceOp.SUM);
        group.reduce(whole, root ? whole : MemorySegment.NULL, DataType.INT32, ReduceOp.MIN, 0);
    }
}
