package io.tutti.service.rest;

import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.swagger.v3.core.converter.ModelConverter;
import io.swagger.v3.core.converter.ModelConverters;
import io.swagger.v3.core.util.Json;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.info.License;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import io.swagger.v3.oas.models.servers.Server;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.converters.ModelConverterRegistrar;
import org.springdoc.core.customizers.OpenApiCustomizer;
import org.springdoc.core.customizers.OperationCustomizer;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.http.HttpHeaders;

/**
 * OpenAPI description at {@code /v3/api-docs}, built on first access.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
class ApiDescription {

	private static final String LIBRARY = "org.springdoc.";

	private static final String TOKEN = "token";

	/** Refusals of every operation, by status. */
	private static final Map<String, String> OF_ALL = Map.of("400", "The request is malformed", "403",
			"The Host header does not name this rank", "406", "The requested media types are not available", "422",
			"An argument is out of its range", "500", "Internal error; the log of the rank has the cause", "503",
			"The group has not formed or is broken, as hint and state describe, or too many requests wait");

	/** Additional refusals of operations with a body. */
	private static final Map<String, String> OF_CHANGES = Map.of("401", "The token is missing", "403",
			"The token is wrong, the request is from a web page of another origin, or the Host header does not name this rank",
			"408", "The body did not arrive in time", "413", "The body is too large", "415",
			"The media type of the body is not supported");

	/**
	 * The description without the operations.
	 * @param converters registers {@link #requiredMembers()} when it is created
	 */
	@Bean
	OpenAPI tuttiApi(ModelConverterRegistrar converters) {
		return new OpenAPI()
			.info(new Info().title("Tutti")
				.version("1")
				.description("The interface of one rank for operators and for processes beside the rank. Health and"
						+ " meters are under /actuator, the live page at /. A request is refused with 403 if its Host"
						+ " header does not name this rank, or if it changes state and is from a web page of another"
						+ " origin.")
				.license(new License().name("Apache-2.0").identifier("Apache-2.0")))
			.addServersItem(new Server().url("/").description("This rank"))
			.components(new Components().addSecuritySchemes(TOKEN,
					new SecurityScheme().type(SecurityScheme.Type.HTTP)
						.scheme("bearer")
						.description("The job's token, if one is set")));
	}

	/** The library cannot copy this schema, as it copies {@link #tuttiApi}. */
	@Bean
	OpenApiCustomizer problemSchema() {
		return (api) -> api.getComponents().addSchemas(ProblemView.NAME, problem());
	}

	private static Schema<?> problem() {
		Schema<?> problem = ModelConverters.getInstance(true).read(ProblemView.class).get(ProblemView.NAME);
		@SuppressWarnings("unchecked")
		Schema<String> type = problem.getProperties().get("type");
		type.setEnum(Stream.of(ProblemType.values()).map((each) -> each.uri().toString()).toList());
		return problem;
	}

	/** A member is required unless its component is {@code @Nullable}. */
	@Bean
	ModelConverter requiredMembers() {
		return (type, context, converters) -> {
			Schema<?> schema = converters.next().resolve(type, context, converters);
			List<String> required = required(Json.mapper().constructType(type.getType()).getRawClass());
			if (!required.isEmpty()) {
				Schema<?> model = (schema.get$ref() == null) ? schema : context.getDefinedModels()
					.get(schema.get$ref().substring(Components.COMPONENTS_SCHEMAS_REF.length()));
				model.setRequired(required);
			}
			return schema;
		};
	}

	private static List<String> required(Class<?> type) {
		return type.isRecord() ? Stream.of(type.getRecordComponents())
			.filter((member) -> !member.getAnnotatedType().isAnnotationPresent(Nullable.class))
			.map(RecordComponent::getName)
			.toList() : List.of();
	}

	@Bean
	OperationCustomizer problemResponses() {
		return (operation, _) -> addProblems(operation);
	}

	private static Operation addProblems(Operation operation) {
		Map<String, ApiResponse> responses = new TreeMap<>(operation.getResponses());
		if (operation.getRequestBody() != null) {
			OF_CHANGES.forEach((code, text) -> responses.putIfAbsent(code, new ApiResponse().description(text)));
			operation.addSecurityItem(new SecurityRequirement())
				.addSecurityItem(new SecurityRequirement().addList(TOKEN));
		}
		OF_ALL.forEach((code, text) -> responses.putIfAbsent(code, new ApiResponse().description(text)));
		responses.forEach((code, response) -> {
			if (code.equals("503")) {
				response.addHeaderObject(HttpHeaders.RETRY_AFTER,
						new Header()
							.description("Seconds after which to send the request again; absent if the group"
									+ " does not form again")
							.schema(new IntegerSchema()));
			}
			if (code.compareTo("400") >= 0) {
				response.setContent(new Content().addMediaType("application/problem+json",
						new MediaType().schema(new Schema<>().$ref(ProblemView.NAME))));
			}
		});
		operation.setResponses(new ApiResponses());
		responses.forEach(operation.getResponses()::addApiResponse);
		return operation;
	}

	/** Initialises the OpenAPI library lazily, so that a rank is ready sooner. */
	@Bean
	static BeanFactoryPostProcessor describeWhenAsked() {
		return (beans) -> {
			for (String name : beans.getBeanDefinitionNames()) {
				String type = beans.getBeanDefinition(name).getBeanClassName();
				String factory = beans.getBeanDefinition(name).getFactoryBeanName();
				if (isLibrary(type) || isLibrary(factory)) {
					beans.getBeanDefinition(name).setLazyInit(true);
				}
			}
		};
	}

	private static boolean isLibrary(@Nullable String name) {
		return name != null && name.startsWith(LIBRARY);
	}

}
