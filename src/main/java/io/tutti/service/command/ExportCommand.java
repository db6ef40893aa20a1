package io.tutti.service.command;

import java.nio.file.Path;
import java.util.concurrent.Callable;

import io.tutti.ExitCode;
import io.tutti.training.checkpoint.CheckpointExport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code export}: writes the model of a checkpoint for Python.
 */
@Command(name = "export", mixinStandardHelpOptions = true, exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		description = "Writes the model of a checkpoint as a file that Python's torch.load reads.",
		footerHeading = "%nExamples:%n",
		footer = { "  ./tutti export run1 model.pt                the newest checkpoint of a job",
				"  ./tutti export run1/step-00001350 model.pt",
				"%nIn Python: model.load_state_dict(torch.load('model.pt'))" })
final class ExportCommand implements Callable<Integer> {

	@Parameters(index = "0", paramLabel = "CHECKPOINT",
			description = "Directory of a checkpoint, or of a job's checkpoints.")
	private @Nullable Path checkpoint;

	@Parameters(index = "1", paramLabel = "FILE", description = "File to write.")
	private @Nullable Path file;

	@Override
	public Integer call() {
		Path exported = CheckpointExport.write(this.checkpoint, this.file);
		System.out.println("exported the model of " + exported + " to " + this.file);
		return ExitCode.DONE;
	}

}
