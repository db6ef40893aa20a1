package io.tutti.service.rest;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.control.RoundWait;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Path and query parameters of a collective, as text. A parameter that does not apply to
 * the collective is refused, not ignored.
 */
record CallParameters(String collective, @Nullable String dtype, @Nullable String op, @Nullable String root,
		@Nullable String label, @Nullable String round, @Nullable String timeoutMs) {

	private static final Set<String> KNOWN = new TreeSet<>(
			List.of("dtype", "op", "root", "label", "round", "timeoutMs"));

	private static final String DEFAULT_LABEL = "default";

	static CallParameters of(String collective, HttpServletRequest request) {
		QueryCheck.check(request.getParameterMap(), KNOWN);
		return new CallParameters(collective, request.getParameter("dtype"), request.getParameter("op"),
				request.getParameter("root"), request.getParameter("label"), request.getParameter("round"),
				request.getParameter("timeoutMs"));
	}

	/**
	 * Parses the parameters into a call.
	 * @param world the group of all ranks, whose size an elastic group changes
	 * @throws ProblemException if a parameter is invalid
	 */
	LabelledCall call(ProcessGroup world) {
		Collective known = choose("collective", this.collective, Collective.values(), Collective::label);
		DataType type = (this.dtype == null) ? DataType.FLOAT32
				: choose("dtype", this.dtype, DataType.values(), DataType::label);
		return new LabelledCall(known, type, operator(known, type), root(known, world.worldSize()), world.rank(),
				world.worldSize());
	}

	/**
	 * The label and round of the call, and how long the other ranks may take to arrive.
	 * @param otherwise timeout if the request has none
	 * @param http the request, whose client may disconnect
	 */
	RoundWait wait(Duration otherwise, HttpServletRequest http) {
		Long number = (this.round == null) ? null : Arguments.wholeNumber("round", this.round);
		Long millis = (this.timeoutMs == null) ? null : Arguments.wholeNumber("timeoutMs", this.timeoutMs);
		return new BarrierRequest((this.label == null) ? DEFAULT_LABEL : this.label, number, millis).wait(otherwise,
				http);
	}

	private ReduceOp operator(Collective known, DataType type) {
		if (this.op != null && !known.reduces()) {
			throw ProblemException.invalidArgument(known + " has no op, got " + this.op);
		}
		ReduceOp chosen = (this.op == null) ? ReduceOp.SUM : choose("op", this.op, ReduceOp.values(), ReduceOp::label);
		if (!chosen.appliesTo(type)) {
			throw ProblemException.invalidArgument("op " + chosen + " needs an integer dtype, got " + type);
		}
		boolean scan = known == Collective.SCAN || known == Collective.EXCLUSIVE_SCAN;
		if (scan && chosen == ReduceOp.AVERAGE) {
			throw ProblemException.invalidArgument(known + " has no op " + chosen);
		}
		return chosen;
	}

	private int root(Collective known, int worldSize) {
		if (this.root == null) {
			return 0;
		}
		if (!known.isRooted()) {
			throw ProblemException.invalidArgument(known + " has no root, got " + this.root);
		}
		return (int) Arguments.inRange("root", Arguments.wholeNumber("root", this.root), 0, worldSize - 1);
	}

	private static <T> T choose(String name, String given, T[] values, Function<T, String> label) {
		return Stream.of(values)
			.filter((value) -> label.apply(value).equals(given))
			.findFirst()
			.orElseThrow(() -> ProblemException.invalidArgument(
					name + " must be one of " + String.join(", ", Arrays.stream(values).map(label).toList()) + ", got "
							+ Arguments.shortened(given)));
	}

}
