package sample;

import io.tutti.engine.*;
import java.lang.foreign.*;
import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
class SpringSample {
    @Bean
    ApplicationRunner sum(ProcessGroup group) {
        return (arguments) -> {
            MemorySegment value = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, group.rank() + 1);
            group.allReduce(value, DataType.FLOAT32, ReduceOp.SUM);
            IO.println(value.get(ValueLayout.JAVA_FLOAT, 0) + " on rank " + group.rank());
        };
    }

    static void main(String[] arguments) {
        SpringApplication.run(SpringSample.class, arguments);
    }
}
