import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.Work;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        MemorySegment buffer = MemorySegment.ofArray(new int[1]);
        Work<Message> receive = group.receiveAsync(buffer, DataType.INT32, Message.ANY_SOURCE, 3);
        IO.println("withdrawn: " + receive.cancel());
        IO.println(receive.failure().getMessage());
        group.barrier();
    }
}
