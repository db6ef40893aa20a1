package io.tutti.service.config;

import io.tutti.BadConfigurationException;

import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.PropertyResolver;

/**
 * A boolean property that is read before properties are bound, with the values of a bound
 * one: {@code true}, {@code yes}, {@code on} or {@code 1}, and their opposites.
 */
public final class Switch {

	private Switch() {
	}

	/**
	 * Whether a property is on.
	 * @param otherwise the answer if it is not set or empty
	 * @throws BadConfigurationException if its value is no boolean
	 */
	public static boolean isOn(PropertyResolver properties, String name, boolean otherwise) {
		String text = properties.getProperty(name);
		try {
			Boolean value = ApplicationConversionService.getSharedInstance().convert(text, Boolean.class);
			return (value != null) ? value : otherwise;
		}
		catch (ConversionException ex) {
			throw new BadConfigurationException(name + "=" + text + " is not true or false",
					"Correct it in application.yml, on the command line or in the environment", ex);
		}
	}

}
