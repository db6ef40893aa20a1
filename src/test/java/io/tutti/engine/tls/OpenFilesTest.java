package io.tutti.engine.tls;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.FreePort;
import io.tutti.TestJvm;
import io.tutti.engine.spi.LocalFaultException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** A process that has reached its limit of open files must not blame a peer for it. */
@Timeout(60)
class OpenFilesTest {

	@Test
	void aProcessThatCanOpenNoSocketIsItselfAtFault() throws Exception {
		List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"));
		command.addAll(TestJvm.command(Exhausted.class, FreePort.next()));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).as(printed).isZero();
		assertThat(printed).contains("refused")
			.contains(LocalFaultException.class.getName() + ": this rank cannot open a socket (Too many open files); ")
			.contains("ulimit -n");
	}

	/** The first attempt loads the classes, which needs files. */
	static final class Exhausted {

		private Exhausted() {
		}

		public static void main(String[] arguments) throws IOException {
			InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(),
					Integer.parseInt(arguments[0]));
			IO.println(attempt(nobody) + ", " + new LocalFaultException("no fault", null));
			List<InputStream> files = new ArrayList<>();
			try {
				while (true) {
					files.add(new FileInputStream("/dev/null"));
				}
			}
			catch (IOException ex) {
				IO.println(attempt(nobody));
			}
		}

		private static IOException attempt(InetSocketAddress address) {
			try {
				PeerSocket.connect(address, null, HandshakeDeadline.within(Duration.ofSeconds(10))).close();
				return new IOException("connected");
			}
			catch (IOException ex) {
				return ex;
			}
		}

	}

}
