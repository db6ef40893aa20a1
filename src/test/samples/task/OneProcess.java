import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.*;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.global.torch;

static class Net extends Module {

    final LinearImpl hidden = register_module("hidden", new LinearImpl(1, 32));

    final LinearImpl output = register_module("output", new LinearImpl(32, 1));

    Tensor forward(Tensor x) {
        return this.output.forward(torch.tanh(this.hidden.forward(x)));
    }

}

void main() {
    Net net = new Net();
    Adam adam = new Adam(net.parameters(), new AdamOptions(0.02));
    Tensor x = torch.rand(1000, 1).mul(new Scalar(6.0));
    Tensor y = torch.sin(x);
    for (int epoch = 0; epoch < 100; epoch++) {
        for (int start = 0; start < 1000; start += 50) {
            try (PointerScope _ = new PointerScope()) {
                adam.zero_grad();
                torch.mse_loss(net.forward(x.narrow(0, start, 50)), y.narrow(0, start, 50)).backward();
                adam.step();
            }
        }
    }
    IO.println("the error is below 0.01: " + (torch.mse_loss(net.forward(x), y).item_float() < 0.01));
}
