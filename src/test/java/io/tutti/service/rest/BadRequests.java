package io.tutti.service.rest;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Invalid requests for a described operation.
 */
final class BadRequests {

	private static final String AUTHORIZED = "Authorization: Bearer " + DescribedRank.TOKEN + "\r\n";

	private static final String JSON = "Content-Type: application/json\r\n";

	private static final String BYTES = "Content-Type: application/octet-stream\r\n";

	private static final String[] NO_WHOLE_NUMBERS = { "many", "1.5", "NaN", "-1", "99999999999999999999", "1e9",
			"%22%22", "", "%205", "0x10" };

	private static final String[] NO_JSON_NUMBERS = { "\"many\"", "\"1\"", "1.5", "true", "[1]", "{}", "NaN",
			"-Infinity", "-1", "0", "1e99", "99999999999999999999", "9223372036854775807" };

	private static final String[] NO_JSON_TEXTS = { "5", "1.5", "true", "[]", "{}", "\"\"", "\" \"", "null" };

	private static final String[] NO_OBJECTS = { "x", "[]", "5", "\"text\"", "true", "{", "{\"", "{} {}", "{'a':1}",
			"{\"a\":}", "<a/>", "[".repeat(1000) };

	private final List<Bad> all = new ArrayList<>();

	private final DescribedRank.Described operation;

	/** An invalid request, and what is invalid. */
	record Bad(String name, byte[] request) {
	}

	private BadRequests(DescribedRank.Described operation) {
		this.operation = operation;
	}

	static List<Bad> of(DescribedRank.Described operation) {
		BadRequests requests = new BadRequests(operation);
		requests.methods();
		requests.paths();
		requests.queries();
		requests.headers();
		if (operation.changes()) {
			requests.tokens();
			requests.mediaTypes();
			if (requests.takesJson()) {
				requests.documents();
				requests.fields();
			}
			else {
				requests.elements();
			}
		}
		return requests.all;
	}

	static byte[] get(String target) {
		return request("GET", target, "", new byte[0]);
	}

	static byte[] post(String target, byte[] json) {
		return request("POST", target, JSON + AUTHORIZED, json);
	}

	private static byte[] request(String method, String target, String headers, byte[] body) {
		boolean sends = body.length > 0 || method.equals("POST");
		byte[] head = (method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers
				+ (sends ? "Content-Length: " + body.length + "\r\n" : "") + "\r\n")
			.getBytes(StandardCharsets.ISO_8859_1);
		byte[] whole = Arrays.copyOf(head, head.length + body.length);
		System.arraycopy(body, 0, whole, head.length, body.length);
		return whole;
	}

	private boolean takesJson() {
		return this.operation.operation().at("/requestBody/content").has("application/json");
	}

	private void methods() {
		for (String method : List.of("DELETE", "PUT", "PATCH", "FROB", "TRACE",
				this.operation.changes() ? "GET" : "POST")) {
			add("method " + method, request(method, this.operation.concretePath(), AUTHORIZED, new byte[0]));
		}
	}

	private void paths() {
		String path = this.operation.concretePath();
		for (String wrong : List.of(path.replace("v1", "v2"), path.replace("v1", "vv"), path + "/more", path + "%00",
				path + "/..%2f..", path + "{}", path.replace("/api", "/api;x=1/.."))) {
			ask("path " + wrong, wrong);
		}
		if (!path.equals(this.operation.path())) {
			ask("unknown value in the path", path.replace("all-reduce", "everything"));
		}
	}

	private void queries() {
		query("frob=1");
		query("format=frob");
		query("limit=%zz");
		for (JsonNode parameter : this.operation.operation().path("parameters")) {
			if (parameter.get("in").asString().equals("query")) {
				String name = parameter.get("name").asString();
				values(name, parameter.get("schema"));
			}
		}
	}

	private void values(String name, JsonNode schema) {
		query(name + "=frob&" + name + "=frob");
		if (schema.get("type").asString().equals("integer")) {
			for (String wrong : NO_WHOLE_NUMBERS) {
				query(name + "=" + wrong);
			}
			if (schema.has("maximum")) {
				query(name + "=" + (schema.get("maximum").asLong() + 1));
				query(name + "=" + (schema.get("minimum").asLong() - 1));
			}
			return;
		}
		if (schema.has("enum")) {
			String value = schema.get("enum").get(0).asString();
			query(name + "=" + value.toUpperCase(Locale.ROOT));
			query(name + "=" + value + "%20");
			query(name + "=" + "x".repeat(5000));
			return;
		}
		query(name + "=");
		query(name + "=%20");
		query(name + "=" + "x".repeat(schema.get("maxLength").asInt() + 1));
	}

	private void headers() {
		header("Accept: image/png");
		header("Accept: ///");
		header("X: " + "a".repeat(20_000));
		header("Content-Length: 1\r\nContent-Length: 2");
		header("Content-Length: -1");
		header("Content-Length: many");
		header("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nContent-Length: 5");
		header("Expect: frob");
		header("no header at all");
		header("X: a\u0000b");
		add("no host",
				bytes(method() + " " + this.operation.concretePath() + " HTTP/1.1\r\nConnection: close\r\n\r\n"));
		add("no request", bytes("frob\r\n\r\n"));
	}

	/** The request has no body; any bytes after the headers belong to no request. */
	private void header(String line) {
		add("header " + line.substring(0, Math.min(40, line.length())),
				bytes(method() + " " + this.operation.concretePath()
						+ " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + AUTHORIZED
						+ (this.operation.changes() ? contentType() : "") + line + "\r\n\r\n"));
	}

	private void tokens() {
		for (String token : List.of("", "Authorization: Bearer\r\n", "Authorization: Bearer open\r\n",
				"Authorization: Basic b3Blbg==\r\n", "Authorization: " + "x".repeat(4000) + "\r\n")) {
			add("token " + token.strip(),
					request("POST", this.operation.concretePath(), contentType() + token, body()));
		}
	}

	private void mediaTypes() {
		for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
				"application/json;charset=frob", "///", "image/png",
				takesJson() ? "application/octet-stream" : "application/json")) {
			add("media type " + type, request("POST", this.operation.concretePath(),
					"Content-Type: " + type + "\r\n" + AUTHORIZED, body()));
		}
		add("encoding gzip", request("POST", this.operation.concretePath(),
				contentType() + "Content-Encoding: gzip\r\n" + AUTHORIZED, body()));
	}

	private void documents() {
		for (String wrong : NO_OBJECTS) {
			json("document " + wrong.substring(0, Math.min(12, wrong.length())), wrong);
		}
		json("unknown field", "{\"frob\":1}");
		json("a field twice", "{\"frob\":1,\"frob\":1}");
		json("nested too deep", "{\"frob\":" + "[".repeat(500) + "]".repeat(500) + "}");
		json("too large", "{\"label\":\"" + "x".repeat(100_000) + "\"}");
		json("a name too long", "{\"" + "x".repeat(60_000) + "\":1}");
		bytes("not UTF-8", new byte[] { '{', '"', (byte) 0xc3, '(', '"', ':', '1', '}' });
		String example = this.operation.operation().at("/requestBody/content/application~1json/example").toString();
		for (Charset other : List.of(StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE, StandardCharsets.UTF_16,
				StandardCharsets.UTF_32BE)) {
			bytes("in " + other, example.getBytes(other));
		}
		bytes("a NUL", new byte[] { '{', 0, '}' });
		if (this.operation.operation().at("/requestBody/required").asBoolean(false)) {
			json("no body", "");
			json("nothing in it", "{}");
			json("null", "null");
		}
	}

	private void fields() {
		JsonNode schema = this.operation
			.resolved(this.operation.operation().at("/requestBody/content/application~1json/schema"));
		ObjectNode example = (ObjectNode) this.operation.operation()
			.at("/requestBody/content/application~1json/example");
		for (Map.Entry<String, JsonNode> property : schema.get("properties").properties()) {
			JsonNode type = property.getValue();
			if (type.get("type").asString().equals("integer")) {
				for (String wrong : NO_JSON_NUMBERS) {
					if (!wrong.equals(type.get("minimum").asString())) {
						field(example, property.getKey(), wrong);
					}
				}
				field(example, property.getKey(), String.valueOf(type.get("maximum").asLong() + 1));
			}
			else {
				for (String wrong : NO_JSON_TEXTS) {
					field(example, property.getKey(), wrong);
				}
				field(example, property.getKey(), "\"" + "x".repeat(type.get("maxLength").asInt() + 1) + "\"");
			}
		}
	}

	/** The example, with another value in one field. */
	private void field(ObjectNode example, String name, String value) {
		ObjectNode others = example.deepCopy();
		others.remove(name);
		String rest = others.toString();
		json(name + ": " + value.substring(0, Math.min(24, value.length())),
				"{\"" + name + "\":" + value + ((others.isEmpty()) ? "}" : "," + rest.substring(1)));
	}

	private void elements() {
		for (int length : new int[] { 1, 3, 1026, 4096, 3_000_000 }) {
			add(length + " bytes",
					request("POST", this.operation.concretePath(), BYTES + AUTHORIZED, new byte[length]));
		}
	}

	private void ask(String name, String target) {
		add(name, request(method(), target, this.operation.changes() ? contentType() + AUTHORIZED : "",
				this.operation.changes() ? body() : new byte[0]));
	}

	private void query(String query) {
		ask("query " + query.substring(0, Math.min(40, query.length())), this.operation.concretePath() + "?" + query);
	}

	private void json(String name, String document) {
		bytes(name, document.getBytes(StandardCharsets.UTF_8));
	}

	private void bytes(String name, byte[] document) {
		add(name, post(this.operation.concretePath(), document));
	}

	private void add(String name, byte[] request) {
		this.all.add(new Bad(name, request));
	}

	private String method() {
		return this.operation.method();
	}

	private String contentType() {
		return takesJson() ? JSON : BYTES;
	}

	private byte[] body() {
		return bytes(takesJson()
				? this.operation.operation().at("/requestBody/content/application~1json/example").toString() : "");
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

}
