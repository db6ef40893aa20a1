import java.time.Duration;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        ProcessGroup brief = group.withTimeout(Duration.ofSeconds(10)).withLabel("layer 1");
        double[] values = { 0.5 };
        brief.allReduce(values, ReduceOp.PRODUCT);
        IO.println(values[0] + " within " + brief.timeout());
        IO.println("call #" + group.lastEntered() + " of " + group.name());
    }
}
