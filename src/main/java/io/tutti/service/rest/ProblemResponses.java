package io.tutti.service.rest;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import io.swagger.v3.oas.models.security.SecurityRequirement;

/**
 * Error responses of every operation, for the OpenAPI description.
 */
final class ProblemResponses {

	/** Name of the schema of a problem. */
	static final String SCHEMA = "Problem";

	/** Name of the security scheme for the token. */
	static final String TOKEN = "token";

	private static final Map<String, String> OF_ALL = Map.of("400", "What came is no such request", "403",
			"The request comes under a host that is not this rank's", "406",
			"The answer cannot be had in the media types that were asked for", "422", "An argument is out of its range",
			"503", "The group has not formed or is broken; hint and state say more");

	private static final Map<String, String> OF_CHANGES = Map.of("401", "The token is missing", "403",
			"The token is wrong, or the request comes from a web page of another origin or under a host that is not this rank's",
			"408", "The body did not come in time", "413", "The body is too large", "415",
			"The body's media type is not taken");

	private ProblemResponses() {
	}

	/** Adds the error responses, and the token requirement if there is a request body. */
	static Operation addTo(Operation operation) {
		Map<String, ApiResponse> responses = new TreeMap<>(operation.getResponses());
		if (operation.getRequestBody() != null) {
			OF_CHANGES.forEach((code, words) -> responses.putIfAbsent(code, new ApiResponse().description(words)));
			operation.addSecurityItem(new SecurityRequirement().addList(TOKEN));
		}
		OF_ALL.forEach((code, words) -> responses.putIfAbsent(code, new ApiResponse().description(words)));
		responses.forEach((code, response) -> {
			if (code.compareTo("400") >= 0) {
				response.setContent(new Content().addMediaType("application/problem+json",
						new MediaType().schema(new Schema<>().$ref(SCHEMA))));
			}
		});
		operation.setResponses(new ApiResponses());
		responses.forEach(operation.getResponses()::addApiResponse);
		return operation;
	}

	/** Schema of a problem (RFC 9457), with the properties that a rank adds. */
	static Schema<Object> schema() {
		Schema<Object> problem = new ObjectSchema();
		problem.setDescription("A problem (RFC 9457), with the rank that tells it");
		problem.setRequired(List.of("status", "title", "rank", "worldSize"));
		problem.addProperty("type", text("What it is about: " + String.join(", ", types())));
		problem.addProperty("title", text("The type in words"));
		problem.addProperty("status", number("The HTTP status"));
		problem.addProperty("detail", text("What happened"));
		problem.addProperty("instance", text("The path that was asked"));
		problem.addProperty("hint", text("What to do"));
		problem.addProperty("rank", number("The rank that was asked"));
		problem.addProperty("worldSize", number("Ranks in the group"));
		problem.addProperty("generation", number("Which forming of the job this is, once formed"));
		problem.addProperty("state", text("How the group stands, where it is not ready"));
		problem.addProperty("group", text("The group that broke"));
		problem.addProperty("sequence", number("The call in which it broke"));
		problem.addProperty("collective", text("What was called"));
		problem.addProperty("label", text("The label of the barrier or call"));
		problem.addProperty("round", number("Which barrier or call of that label, from 0"));
		problem.addProperty("arrived", number("How many ranks had come"));
		problem.addProperty("missingRanks", new ArraySchema().items(number("A rank")).description("Ranks not there"));
		problem.addProperty("calls", new ObjectSchema().description("By rank, what each called"));
		problem.addProperty("elapsedMs", number("How long was waited, in milliseconds"));
		problem.addProperty("timeoutMs", number("How long was to be waited, in milliseconds"));
		return problem;
	}

	private static Schema<?> text(String description) {
		return new StringSchema().description(description);
	}

	private static Schema<?> number(String description) {
		return new IntegerSchema().format("int64").description(description);
	}

	private static List<String> types() {
		return Stream.of(ProblemType.values()).map((type) -> type.uri().toString()).toList();
	}

}
