package io.tutti.endtoend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

import com.sun.net.httpserver.HttpServer;

/**
 * A web server of another origin, whose page posts a number to a given address as soon as
 * it is loaded.
 */
final class ForeignPage implements AutoCloseable {

	/** {@code #sent} shows that the request has ended, successfully or not. */
	private static final String PAGE = """
			<!DOCTYPE html><link rel="icon" href="data:,"><p id="sent">not yet</p><script>
			const ended = () => { document.getElementById('sent').textContent = 'sent'; };
			fetch('%s', { method: 'POST', mode: 'no-cors', body: new Blob([new Float32Array([666])]) }).then(ended, ended);
			</script>
			""";

	private final HttpServer server;

	private ForeignPage(HttpServer server) {
		this.server = server;
	}

	static ForeignPage postingTo(String target) throws IOException {
		byte[] page = PAGE.formatted(target).getBytes(StandardCharsets.UTF_8);
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		server.createContext("/", (exchange) -> {
			exchange.getResponseHeaders().set("Content-Type", "text/html;charset=UTF-8");
			exchange.sendResponseHeaders(200, page.length);
			exchange.getResponseBody().write(page);
			exchange.close();
		});
		server.start();
		return new ForeignPage(server);
	}

	String address() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort() + "/";
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

}
