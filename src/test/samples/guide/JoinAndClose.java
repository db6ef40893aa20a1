import io.tutti.ProcessGroup;

void main() {
    try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
        group.barrier();
        IO.println("rank " + group.rank() + " of " + group.worldSize() + " is " + group.state());
    }
}
