package io.tutti.chart;

import java.io.IOException;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobTemplateSpec;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Job;
import io.kubernetes.client.openapi.models.V1JobTemplateSpec;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1Pod;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Secret;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import tools.jackson.databind.JsonNode;

/**
 * Checks objects against Kubernetes' types. Two families of types are needed: one rejects
 * unknown and missing fields, the other values of a wrong type. Neither checks the
 * allowed values of a text field.
 */
final class KubernetesSchema {

	private static final Map<String, Schema> SCHEMAS = Map.of("Job", new Schema(V1Job::validateJsonElement, Job.class),
			"StatefulSet", new Schema(V1StatefulSet::validateJsonElement, StatefulSet.class), "Service",
			new Schema(V1Service::validateJsonElement, Service.class), "Secret",
			new Schema(V1Secret::validateJsonElement, Secret.class), "ConfigMap",
			new Schema(V1ConfigMap::validateJsonElement, ConfigMap.class), "NetworkPolicy",
			new Schema(V1NetworkPolicy::validateJsonElement, NetworkPolicy.class), "PodDisruptionBudget",
			new Schema(V1PodDisruptionBudget::validateJsonElement, PodDisruptionBudget.class), "Pod",
			new Schema(V1Pod::validateJsonElement, Pod.class));

	private static final Schema JOB_TEMPLATE = new Schema(V1JobTemplateSpec::validateJsonElement,
			JobTemplateSpec.class);

	private static final ObjectMapper STRICT = JsonMapper.builder()
		.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
		.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
		.build();

	private KubernetesSchema() {
	}

	/** Whether this kind is built into Kubernetes and not from an extension. */
	static boolean knows(JsonNode object) {
		return SCHEMAS.containsKey(object.path("kind").asString());
	}

	/**
	 * Checks an object of a built-in kind.
	 * @throws IllegalArgumentException if the object is invalid; the message names the
	 * error
	 */
	static void check(JsonNode object) {
		SCHEMAS.get(object.path("kind").asString()).check(object);
	}

	/** Checks the template of a Job, as JobSet embeds it. */
	static void checkJobTemplate(JsonNode template) {
		JOB_TEMPLATE.check(template);
	}

	private record Schema(Fields fields, Class<?> types) {

		void check(JsonNode object) {
			try {
				this.fields.check(JsonParser.parseString(object.toString()));
				STRICT.readValue(object.toString(), this.types);
			}
			catch (JsonProcessingException ex) {
				throw new IllegalArgumentException(ex.getMessage(), ex);
			}
			catch (IOException ex) {
				throw new IllegalArgumentException(ex);
			}
		}

	}

	/** Rejects unknown and missing fields. */
	private interface Fields {

		void check(JsonElement element) throws IOException;

	}

}
