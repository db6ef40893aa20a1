package io.tutti.engine.backend;

class TlsDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.TLS;
	}

}
