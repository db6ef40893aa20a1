import java.util.List;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        // Ranks of one colour; the key -rank reverses their order.
        try (ProcessGroup same = group.split(group.rank() % 2, -group.rank())) {
            int[] members = { 1 };
            same.allReduce(members, ReduceOp.SUM);
            IO.println(members[0] + " member in the group of colour " + group.rank() % 2);
        }
        // Every rank makes the call, also those that are not in the group.
        try (ProcessGroup first = group.subgroup(List.of(0))) {
            IO.println("in the group of rank 0: " + (first != null));
        }
    }
}
