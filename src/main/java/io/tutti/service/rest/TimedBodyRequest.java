package io.tutti.service.rest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.tutti.engine.spi.Deadline;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body fails with a {@link SocketTimeoutException} when it is not
 * complete in time. The time starts at the first access to the body: the delay of a busy
 * rank does not count against the client.
 */
final class TimedBodyRequest extends HttpServletRequestWrapper {

	private final Duration limit;

	private @Nullable ServletInputStream body;

	TimedBodyRequest(HttpServletRequest request, Duration limit) {
		super(request);
		this.limit = limit;
	}

	@Override
	public ServletInputStream getInputStream() throws IOException {
		ServletInputStream wanted = this.body;
		if (wanted == null) {
			wanted = new TimedStream(super.getInputStream(), Deadline.after(this.limit));
			this.body = wanted;
		}
		return wanted;
	}

	@Override
	public BufferedReader getReader() throws IOException {
		return new BufferedReader(new InputStreamReader(getInputStream(), StandardCharsets.UTF_8));
	}

	private static final class TimedStream extends ServletInputStream {

		private final ServletInputStream body;

		private final Deadline deadline;

		TimedStream(ServletInputStream body, Deadline deadline) {
			this.body = body;
			this.deadline = deadline;
		}

		@Override
		public int read() throws IOException {
			requireTime();
			return this.body.read();
		}

		@Override
		public int read(byte[] bytes, int offset, int length) throws IOException {
			requireTime();
			return this.body.read(bytes, offset, length);
		}

		private void requireTime() throws SocketTimeoutException {
			if (this.deadline.expired()) {
				throw new SocketTimeoutException("the body was incomplete after " + this.deadline.timeout());
			}
		}

		@Override
		public boolean isFinished() {
			return this.body.isFinished();
		}

		@Override
		public boolean isReady() {
			return this.body.isReady();
		}

		@Override
		public void setReadListener(ReadListener listener) {
			this.body.setReadListener(listener);
		}

	}

}
