package io.tutti.endtoend;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/**
 * The task of the digits with a pause in each step. A job that trains until a fault ends
 * it leaves the processors to what starts beside it.
 */
public final class PausingTask implements TrainingTask {

	static final String JAR = "pausing.jar";

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final ClassifierTask task = new ClassifierTask(ClassifierOptions.defaults());

	/** The words of a command that trains until it is ended, with the jar in a folder. */
	public static String[] command(String folder) {
		return new String[] { "train", "--epochs", "1000000", "--task", PausingTask.class.getName(), "--class-path",
				folder + "/" + JAR };
	}

	/** Writes the jar of the task to a folder, which every user may then read. */
	public static void write(Path folder) throws IOException {
		String entry = PausingTask.class.getName().replace('.', '/') + ".class";
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(folder.resolve(JAR)));
				InputStream type = PausingTask.class.getClassLoader().getResourceAsStream(entry)) {
			jar.putNextEntry(new JarEntry(entry));
			type.transferTo(jar);
		}
		Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
	}

	@Override
	public SampleCounts load(long seed, TrainingDevice device) {
		return this.task.load(seed, device);
	}

	@Override
	public Module model() {
		return this.task.model();
	}

	@Override
	public Optimizer optimizer(TensorVector parameters) {
		return this.task.optimizer(parameters);
	}

	@Override
	public Tensor losses(Batch batch) {
		LockSupport.parkNanos(PAUSE_NANOS);
		return this.task.losses(batch);
	}

	@Override
	public Tensor scores(Batch batch) {
		return this.task.scores(batch);
	}

	@Override
	public void close() {
		this.task.close();
	}

}
