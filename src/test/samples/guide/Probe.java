import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        if (group.rank() == 0) {
            IO.println("nothing yet: " + (group.tryProbe(1, 6) == null));
            Message message = group.probe(1, Message.ANY_TAG);
            int[] values = new int[(int) message.count()];
            group.receive(MemorySegment.ofArray(values), DataType.INT32, message.source(), message.tag());
            IO.println(Arrays.toString(values) + " with tag " + message.tag());
        }
        if (group.rank() == 1) {
            group.send(MemorySegment.ofArray(new int[] { 1, 2, 3 }), DataType.INT32, 0, 5);
        }
    }
}
