package io.tutti.engine.backend;

class SharedDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.SHARED;
	}

}
