package io.tutti.service.config;

import java.math.BigInteger;
import java.net.InetAddress;

/**
 * A network in the notation {@code 10.1.0.0/16} or {@code fd00::/8}.
 *
 * @param base an address in the network
 * @param bits length of the prefix in bits
 */
record Subnet(InetAddress base, int bits) {

	/**
	 * @throws IllegalArgumentException if the text is not a network, naming it
	 */
	static Subnet parse(String text) {
		int slash = text.indexOf('/');
		try {
			InetAddress base = InetAddress.ofLiteral(text.substring(0, slash));
			int bits = Integer.parseInt(text.substring(slash + 1));
			int most = base.getAddress().length * Byte.SIZE;
			if (bits < 0 || bits > most) {
				throw new IllegalArgumentException(
						"the network " + text + " must have 0.." + most + " bits after the slash, got " + bits);
			}
			return new Subnet(base, bits);
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException(
					"the network " + text + " must have a number of bits after the slash, as in 10.1.0.0/16");
		}
	}

	boolean contains(InetAddress address) {
		byte[] own = this.base.getAddress();
		byte[] other = address.getAddress();
		int hostBits = own.length * Byte.SIZE - this.bits;
		return own.length == other.length
				&& new BigInteger(1, own).xor(new BigInteger(1, other)).shiftRight(hostBits).signum() == 0;
	}

}
