package io.tutti.launch;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses Slurm's notation for the number of tasks per node: {@code 4(x2),3} is 4, 4, 3.
 */
final class SlurmTaskCounts {

	private static final Pattern COUNT = Pattern.compile("([0-9]{1,9})(?:\\(x([0-9]{1,9})\\))?");

	private SlurmTaskCounts() {
	}

	/**
	 * The tasks of one node.
	 * @param node which node of the step, from 0
	 * @throws ResolutionException if the text is malformed, has no count for that node,
	 * or gives it no task or more tasks than the world size
	 */
	static int at(String variable, String text, int node, int worldSize) {
		long nodesBefore = 0;
		for (String part : text.split(",", -1)) {
			Matcher matcher = COUNT.matcher(part);
			if (!matcher.matches()) {
				throw new ResolutionException(variable, text, "counts of tasks such as 4(x2),3");
			}
			nodesBefore += (matcher.group(2) != null) ? Integer.parseInt(matcher.group(2)) : 1;
			if (node < nodesBefore) {
				return inRange(variable, text, Integer.parseInt(matcher.group(1)), node, worldSize);
			}
		}
		throw new ResolutionException(variable, text, "a count of tasks for each node up to " + node);
	}

	private static int inRange(String variable, String text, int tasks, int node, int worldSize) {
		if (tasks < 1 || tasks > worldSize) {
			throw new ResolutionException(variable, text,
					"1.." + worldSize + " tasks on node " + node + " (the world size is " + worldSize + ")");
		}
		return tasks;
	}

}
