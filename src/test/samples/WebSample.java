package sample;

import io.tutti.*;
import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.*;

@SpringBootApplication(proxyBeanMethods = false)
@RestController
record WebSample(ProcessGroup group) {
    @PostMapping("/sum")
    String sum() {
        float[] values = { group.rank() + 1 };
        group.allReduce(values, ReduceOp.SUM);
        return values[0] + " on rank " + group.rank();
    }
    static void main(String[] arguments) { SpringApplication.run(WebSample.class, arguments); }
}
