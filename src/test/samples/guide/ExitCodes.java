import io.tutti.ExitCode;
import io.tutti.ProcessGroup;

void main() {
    ExitCode.onUncaughtException();
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        group.barrier();
        if (group.rank() == 0) {
            group.abort("the input file is empty");
        }
        group.barrier();
    }
}
