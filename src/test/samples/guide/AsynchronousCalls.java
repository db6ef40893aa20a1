import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;

void main() throws InterruptedException {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        int[] sums = { 1 };
        int[] maxima = { group.rank() };
        Work<Void> sum = group.allReduceAsync(MemorySegment.ofArray(sums), DataType.INT32, ReduceOp.SUM);
        Work<Void> maximum = group.allReduceAsync(MemorySegment.ofArray(maxima), DataType.INT32, ReduceOp.MAX);

        Work<Void> first = Work.awaitAny(List.of(sum, maximum), Duration.ofSeconds(10));
        IO.println("one is done: " + (first != null));
        IO.println("the sum is done: " + sum.await(Duration.ofSeconds(10)));
        maximum.await();
        IO.println("sum " + sums[0] + ", maximum " + maxima[0]);

        group.barrierAsync().toFuture().thenRun(() -> IO.println("after the barrier")).join();
    }
}
