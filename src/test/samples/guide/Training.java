import io.tutti.*;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.*;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.*;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.global.torch;

static class Plane extends Module {

    final LinearImpl layer = register_module("layer", new LinearImpl(2, 1));

    Tensor forward(Tensor rows) {
        return this.layer.forward(rows);
    }

}

void main() {
    ExitCode.onUncaughtException();
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        Plane plane = new Plane();
        SGD optimizer = new SGD(plane.parameters(), new SGDOptions(0.1));
        float[] loss = new float[1];
        try (DistributedDataParallel replicas = new DistributedDataParallel(group, plane)) {
            for (int step = 0; step < 50; step++) {
                try (PointerScope _ = new PointerScope()) {
                    Tensor rows = torch.randn(16, 2);
                    Tensor wanted = rows.matmul(torch.tensor(new float[] { 3, -2 })).view(16, 1);
                    replicas.zeroGradients();
                    Tensor error = torch.mse_loss(plane.forward(rows), wanted);
                    error.backward();
                    replicas.synchronizeGradients();
                    optimizer.step();
                    loss[0] = error.item_float();
                }
            }
        }
        group.allReduce(loss, ReduceOp.AVERAGE);
        IO.println("the loss is below 0.1: " + (loss[0] < 0.1));
    }
}
