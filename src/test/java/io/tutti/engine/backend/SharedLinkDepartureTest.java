package io.tutti.engine.backend;

class SharedLinkDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.SHARED_LINKS;
	}

}
