import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        int next = (group.rank() + 1) % group.worldSize();
        int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
        MemorySegment mine = MemorySegment.ofArray(new int[] { group.rank(), 42 });
        int[] received = new int[10];
        MemorySegment buffer = MemorySegment.ofArray(received);

        group.send(mine, DataType.INT32, next, 7);
        long count = group.receive(buffer, DataType.INT32, previous, 7);
        IO.println(count + " elements from rank " + received[0]);

        count = group.sendReceive(mine, next, buffer, previous, DataType.INT32, 8);
        IO.println(count + " elements, the second is " + received[1]);

        group.send(mine, DataType.INT32, next, 9);
        Message message = group.receiveAny(buffer, DataType.INT32, Message.ANY_SOURCE, Message.ANY_TAG);
        IO.println("tag " + message.tag() + ", " + message.count() + " elements");
    }
}
