package io.tutti.service.rest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends raw bytes that no well-behaved client sends.
 */
record RawHttp(int port) {

	private static final int TIMEOUT_MILLIS = 20_000;

	private static final Pattern CHUNK = Pattern.compile("([0-9a-fA-F]+)\r\n");

	/** The response; status 0 if the connection was closed without one. */
	record Answer(int status, String head, String body) {

		String header(String name) {
			Matcher found = Pattern.compile("(?im)^" + name + ": *(.*?)\r?$").matcher(this.head);
			return found.find() ? found.group(1) : "";
		}

	}

	Socket open() throws IOException {
		Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port);
		socket.setSoTimeout(TIMEOUT_MILLIS);
		return socket;
	}

	/**
	 * Sends a request that asks for the connection to be closed, and reads to the end.
	 */
	Answer send(byte[] request) throws IOException {
		try (Socket socket = open()) {
			socket.getOutputStream().write(request);
			return read(socket);
		}
	}

	static Answer read(Socket socket) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try {
			InputStream in = socket.getInputStream();
			byte[] chunk = new byte[8192];
			for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
				bytes.write(chunk, 0, read);
			}
		}
		catch (SocketException ex) {
			// A server that leaves part of a request unread resets the connection.
			if (bytes.size() == 0) {
				return new Answer(0, "", "");
			}
		}
		return parse(bytes.toString(StandardCharsets.UTF_8));
	}

	private static Answer parse(String text) {
		if (text.isEmpty()) {
			return new Answer(0, "", "");
		}
		int end = text.indexOf("\r\n\r\n");
		String head = text.substring(0, end + 2);
		String body = text.substring(end + 4);
		boolean chunked = head.toLowerCase(Locale.ROOT).contains("transfer-encoding: chunked");
		return new Answer(Integer.parseInt(head.split(" ", 3)[1]), head, chunked ? joined(body) : body);
	}

	/**
	 * Sizes count bytes; the answers are plain ASCII but for a few characters of text.
	 */
	private static String joined(String chunks) {
		Matcher size = CHUNK.matcher(chunks);
		return size.lookingAt() ? chunks.substring(size.end(), chunks.lastIndexOf('}') + 1) : chunks;
	}

}
