package sample;

import io.tutti.*;
import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication(proxyBeanMethods = false)
record SpringSample(ProcessGroup group) implements CommandLineRunner {
    public void run(String... arguments) {
        float[] values = { group.rank() + 1 };
        group.allReduce(values, ReduceOp.SUM);
        IO.println(values[0] + " on rank " + group.rank());
    }
    static void main(String[] arguments) { SpringApplication.run(SpringSample.class, arguments); }
}
