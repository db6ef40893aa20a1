package io.tutti.engine.backend;

class TcpDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.TCP;
	}

}
