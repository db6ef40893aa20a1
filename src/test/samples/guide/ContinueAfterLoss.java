import java.nio.ByteBuffer;

import io.tutti.ElasticGroup;
import io.tutti.ElasticState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

static class Sum implements ElasticState {

    long step;

    long sum;

    @Override
    public long step() {
        return this.step;
    }

    @Override
    public void rollback() {
        // A step changes this state only after its collective, so an incomplete step changes nothing.
    }

    @Override
    public void synchronize(ProcessGroup group, int source) {
        long[] all = { this.step, this.sum };
        group.broadcast(all, source);
        this.step = all[0];
        this.sum = all[1];
    }

    @Override
    public byte[] digest() {
        return ByteBuffer.allocate(16).putLong(this.step).putLong(this.sum).array();
    }

}

void main() {
    Sum state = new Sum();
    try (ElasticGroup job = ElasticGroup.fromEnvironment()) {
        long total = job.run(state, group -> {
            while (state.step < 100) {
                long[] part = { 0 };
                for (long sample = group.rank(); sample < 10; sample += group.worldSize()) {
                    part[0] += 10 * state.step + sample;
                }
                group.allReduce(part, ReduceOp.SUM);
                state.sum += part[0];
                state.step++;
                job.commit();
            }
            return state.sum;
        });
        if (job.group().rank() == 0) {
            IO.println("the sum of the samples 0 to 999 is " + total);
        }
    }
}
