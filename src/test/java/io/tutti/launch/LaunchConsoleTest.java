package io.tutti.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class LaunchConsoleTest {

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	@Test
	void eachLineCarriesItsRankOnItsOwnStream() {
		LaunchConsole console = new LaunchConsole(this.out, false, this.err, false);
		line(console.linesOf(0, false, true), "hello", false);
		line(console.linesOf(12, true, false), "trouble", false);
		console.say("rank 12 ended with 1");
		assertThat(this.out.toString(StandardCharsets.UTF_8)).isEqualTo("[0] hello\n");
		assertThat(this.err.toString(StandardCharsets.UTF_8))
			.isEqualTo("[12] trouble\ntutti launch: rank 12 ended with 1\n");
	}

	@Test
	void aTerminalShowsUpdatesAsOneLiveLineBelowTheOtherLines() {
		LaunchConsole console = new LaunchConsole(this.err, true, this.err, true);
		LineRelay.Lines bar = console.linesOf(0, true, true);
		update(bar, "50 %");
		line(console.linesOf(1, false, false), "hello", false);
		update(bar, "90 %");
		line(bar, "100 %", true);
		line(bar, "next", false);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).isEqualTo("\r[0] 50 %\033[K"
				+ "\r\033[K[1] hello\n\r[0] 50 %\033[K" + "\r[0] 90 %\033[K" + "\r\033[K[0] 100 %\n" + "[0] next\n");
	}

	@Test
	void withoutATerminalOnlyFinalLinesAreWritten() {
		LaunchConsole console = new LaunchConsole(this.out, true, this.err, false);
		LineRelay.Lines bar = console.linesOf(0, true, true);
		update(bar, "50 %");
		line(bar, "100 %", true);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).isEqualTo("[0] 100 %\n");
	}

	private static OutputStream broken(String reason) {
		return new OutputStream() {
			@Override
			public void write(int b) throws IOException {
				throw new IOException(reason);
			}
		};
	}

	@Test
	void aFullDiskIsReported() {
		LaunchConsole console = new LaunchConsole(broken("No space left on device"), false, this.err, false);
		assertThat(console.problem()).isNull();
		line(console.linesOf(0, false, true), "lost", false);
		assertThat(console.problem()).isEqualTo("No space left on device");
	}

	@Test
	void outputIsDroppedAfterTheReaderClosesThePipe() {
		OutputStream broken = broken(BrokenPipe.text());
		LaunchConsole console = new LaunchConsole(broken, false, this.err, false);
		line(console.linesOf(0, false, true), "lost", false);
		line(console.linesOf(0, true, true), "kept", false);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).isEqualTo("[0] kept\n");
		assertThat(console.problem()).isNull();
	}

	@Test
	void linesOfManyRanksAreNotInterleaved() throws InterruptedException {
		LaunchConsole console = new LaunchConsole(this.out, false, this.err, false);
		List<Thread> ranks = new ArrayList<>();
		for (int rank = 0; rank < 8; rank++) {
			LineRelay.Lines lines = console.linesOf(rank, false, false);
			String text = Integer.toString(rank).repeat(100);
			ranks.add(Thread.ofPlatform().start(() -> {
				for (int i = 0; i < 200; i++) {
					line(lines, text, false);
				}
			}));
		}
		for (Thread rank : ranks) {
			rank.join();
		}
		assertThat(this.out.toString(StandardCharsets.UTF_8).lines()).hasSize(1600)
			.allMatch((line) -> line.equals("[" + line.charAt(1) + "] " + line.substring(1, 2).repeat(100)));
	}

	private static void line(LineRelay.Lines lines, String text, boolean endsUpdate) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		lines.line(bytes, bytes.length, endsUpdate);
	}

	private static void update(LineRelay.Lines lines, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		lines.update(bytes, bytes.length);
	}

}
