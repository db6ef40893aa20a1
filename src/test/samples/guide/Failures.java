import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        group.barrier();
        try {
            if (group.rank() == 0) {
                // Rank 1 does not make this call, so the group breaks on both ranks.
                group.withTimeout(Duration.ofMillis(200)).barrier();
            }
            group.receive(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 0);
        }
        catch (CollectiveException ex) {
            String advice = switch (ex) {
                case CollectiveTimeoutException _ -> "look at the ranks that did not come";
                case CollectiveMismatchException _ -> "correct the program";
                case PeerLostException _ -> "restart the job";
                case GroupAbortedException _ -> "read the reason";
            };
            IO.println(advice + ": " + ex.failure().kind() + " of " + ex.collective() + " #" + ex.sequence()
                    + " of ranks " + ex.peers() + ", exit code " + ex.exitCode());
        }
        IO.println("the group is " + group.state());
    }
}
