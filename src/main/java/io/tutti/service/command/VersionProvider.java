package io.tutti.service.command;

import picocli.CommandLine.IVersionProvider;

/**
 * The version that the jar's manifest names.
 */
final class VersionProvider implements IVersionProvider {

	@Override
	public String[] getVersion() {
		String version = VersionProvider.class.getPackage().getImplementationVersion();
		return new String[] { "Tutti " + ((version != null) ? version : "(not from a jar)"),
				"Java " + Runtime.version() };
	}

}
