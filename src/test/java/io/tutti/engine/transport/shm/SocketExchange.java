package io.tutti.engine.transport.shm;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;

/**
 * An exchange between processes: rank 0 gathers and distributes the contributions.
 */
public final class SocketExchange implements MetadataExchange, AutoCloseable {

	private final int rank;

	/**
	 * On rank 0 the connections to the other ranks, without its own; on other ranks the
	 * connection to rank 0.
	 */
	private final List<Socket> sockets;

	private SocketExchange(int rank, List<Socket> sockets) {
		this.rank = rank;
		this.sockets = sockets;
	}

	/** Rank 0 of the exchange. */
	public static SocketExchange host(ServerSocket server, int worldSize) throws IOException {
		Socket[] others = new Socket[worldSize];
		for (int i = 1; i < worldSize; i++) {
			Socket socket = server.accept();
			others[new DataInputStream(socket.getInputStream()).readInt()] = socket;
		}
		List<Socket> sockets = new ArrayList<>();
		for (int i = 1; i < worldSize; i++) {
			sockets.add(others[i]);
		}
		return new SocketExchange(0, sockets);
	}

	/** Any other rank. */
	public static SocketExchange join(int port, int rank) throws IOException {
		Socket socket = new Socket();
		socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
		socket.setTcpNoDelay(true);
		new DataOutputStream(socket.getOutputStream()).writeInt(rank);
		return new SocketExchange(rank, List.of(socket));
	}

	@Override
	public byte[][] allGather(byte[] mine, Deadline deadline) throws IOException {
		for (Socket socket : this.sockets) {
			socket.setSoTimeout((int) Math.max(1, Math.min(deadline.remaining().toMillis(), Integer.MAX_VALUE)));
		}
		return (this.rank == 0) ? serve(mine) : ask(mine);
	}

	private byte[][] serve(byte[] mine) throws IOException {
		byte[][] all = new byte[this.sockets.size() + 1][];
		all[0] = mine;
		for (int i = 1; i < all.length; i++) {
			all[i] = read(new DataInputStream(this.sockets.get(i - 1).getInputStream()));
		}
		for (Socket socket : this.sockets) {
			DataOutputStream out = new DataOutputStream(new java.io.BufferedOutputStream(socket.getOutputStream()));
			out.writeInt(all.length);
			for (byte[] one : all) {
				write(out, one);
			}
			out.flush();
		}
		return all;
	}

	private byte[][] ask(byte[] mine) throws IOException {
		write(new DataOutputStream(this.sockets.get(0).getOutputStream()), mine);
		DataInputStream in = new DataInputStream(this.sockets.get(0).getInputStream());
		byte[][] all = new byte[in.readInt()][];
		for (int i = 0; i < all.length; i++) {
			all[i] = read(in);
		}
		return all;
	}

	private static void write(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	private static byte[] read(DataInputStream in) throws IOException {
		int length = in.readInt();
		if (length < 0 || length > MAX_BYTES) {
			throw new IOException("a blob must have 0.." + MAX_BYTES + " bytes, got " + length);
		}
		return in.readNBytes(length);
	}

	@Override
	public void close() throws IOException {
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

}
