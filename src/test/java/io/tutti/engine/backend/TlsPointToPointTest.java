package io.tutti.engine.backend;

import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.Tls;

class TlsPointToPointTest extends PointToPointContract {

	private static final Authority AUTHORITY = Authority.named("CN=ours");

	private static final Tls TLS = AUTHORITY.tls(AUTHORITY.rank());

	@Override
	World world(int worldSize) throws Exception {
		return Worlds.tls(worldSize, TLS);
	}

}
