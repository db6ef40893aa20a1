import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.Transfer;
import io.tutti.Work;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        long[] mine = { 10 + group.rank() };
        long[] halo = new long[group.worldSize()];
        List<Transfer> transfers = new ArrayList<>();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank()) {
                MemorySegment place = MemorySegment.ofArray(halo).asSlice(peer * 8L, 8);
                transfers.add(Transfer.send(MemorySegment.ofArray(mine), DataType.INT64, peer, 0));
                transfers.add(Transfer.receive(place, DataType.INT64, peer, 0));
            }
        }
        List<Work<Message>> works = group.startAll(transfers);
        Work.awaitAll(works);
        IO.println("from rank 1: " + halo[1]);
    }
}
