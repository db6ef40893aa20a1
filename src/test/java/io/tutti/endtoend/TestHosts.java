package io.tutti.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Assumptions;

/**
 * Simulates hosts on one machine: network namespaces with one device, one host name and
 * one /dev/shm each, and a switch between them. Host 0 is 10.77.0.1 and fd77::1, host 1
 * is 10.77.0.2, and so on.
 */
final class TestHosts {

	/** Tests of several classes run at the same time in one process. */
	private static final AtomicInteger CREATED = new AtomicInteger();

	/** With the number of a host it is the name of a device: at most 15 characters. */
	private final String prefix = "t" + ProcessHandle.current().pid() + "n" + CREATED.incrementAndGet();

	private final List<String> namespaces = new ArrayList<>();

	private final TestSwitch network = new TestSwitch();

	TestHosts(int count) throws Exception {
		for (int host = 0; host < count; host++) {
			add(host);
		}
		this.network.start();
	}

	/** Skips the test where network namespaces cannot be created. */
	static void assumePossible() throws Exception {
		Assumptions.assumeTrue("root".equals(System.getProperty("user.name")), "not root: no network namespaces");
		Assumptions.assumeTrue(Files.isWritable(Path.of("/dev/net/tun")), "no /dev/net/tun: no network cards");
		for (String tool : List.of("ip", "nsenter", "unshare", "hostname", "mount")) {
			Assumptions.assumeTrue(isInstalled(tool), tool + " is not installed");
		}
		Assumptions.assumeTrue(succeeds("unshare", "--net", "--uts", "true"), "namespaces are not allowed here");
	}

	static boolean isInstalled(String tool) {
		return Arrays.stream(System.getenv("PATH").split(":"))
			.anyMatch((folder) -> Files.isExecutable(Path.of(folder, tool)));
	}

	private void add(int host) throws Exception {
		String name = this.prefix + "h" + host;
		run("ip", "netns", "add", name);
		this.namespaces.add(name);
		Files.createDirectory(memory(host));
		run("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", memory(host).toString());
		TapDevice card = new TapDevice(name);
		this.network.plugIn(card);
		run("ip", "link", "set", name, "netns", name);
		run("ip", "-n", name, "link", "set", "lo", "up");
		run("ip", "-n", name, "addr", "add", address(host) + "/24", "dev", name);
		run("ip", "-n", name, "addr", "add", ipv6Address(host) + "/64", "dev", name, "nodad");
		run("ip", "-n", name, "link", "set", name, "up");
	}

	/** The folders that ranks find as /dev/shm. */
	List<Path> memories() {
		return IntStream.range(0, this.namespaces.size()).mapToObj(this::memory).toList();
	}

	private Path memory(int host) {
		return Path.of("/run", this.namespaces.get(host));
	}

	static String address(int host) {
		return "10.77.0." + (host + 1);
	}

	static String ipv6Address(int host) {
		return "fd77::" + (host + 1);
	}

	TestSwitch network() {
		return this.network;
	}

	/** Limits what each host sends, for example to {@code 40mbit}. */
	void limitBandwidth(String rate) throws Exception {
		for (String name : this.namespaces) {
			run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", name, "root", "tbf", "rate", rate, "burst",
					"64kb", "latency", "2s");
		}
	}

	/** The command line that runs a command on a host. */
	List<String> on(int host, List<String> command) {
		List<String> whole = new ArrayList<>(List.of("nsenter", "--net=/run/netns/" + this.namespaces.get(host),
				"unshare", "--uts", "--mount", "sh", "-c",
				"mount --bind " + memory(host) + " /dev/shm && hostname \"$0\" && exec \"$@\"", "host" + host));
		whole.addAll(command);
		return whole;
	}

	/**
	 * A replacement for ssh that launchers call: runs a command on the host with the
	 * given address.
	 */
	Path remoteShell(Path folder) throws IOException {
		Path script = folder.resolve("remote-shell");
		Files.writeString(script, """
				#!/bin/sh
				while :; do
				  case ${1:-} in
				    -l|-p|-o) shift 2;;
				    -*) shift;;
				    *) break;;
				  esac
				done
				host=$((${1##*.} - 1))
				shift
				exec nsenter --net=/run/netns/%1$sh$host unshare --uts --mount \\
				  sh -c "mount --bind /run/%1$sh$host /dev/shm; hostname host$host; $*"
				""".formatted(this.prefix));
		Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
		return script;
	}

	private static void run(String... command) throws Exception {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes());
		if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
			throw new IOException(String.join(" ", command) + ": " + output);
		}
	}

	private static boolean succeeds(String... command) throws Exception {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
	}

	/** Removes the hosts. Processes that still run on them lose their network. */
	void close() throws Exception {
		this.network.close();
		for (int host = 0; host < this.namespaces.size(); host++) {
			run("umount", "--lazy", memory(host).toString());
			Files.delete(memory(host));
			run("ip", "netns", "del", this.namespaces.get(host));
		}
	}

}
