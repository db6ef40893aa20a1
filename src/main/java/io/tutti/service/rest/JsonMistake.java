package io.tutti.service.rest;

import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/**
 * Names the invalid field of a JSON body, without names of Java classes.
 */
final class JsonMistake {

	private JsonMistake() {
	}

	static String describe(JacksonException mistake) {
		return switch (mistake) {
			case UnrecognizedPropertyException unknown -> "unknown field "
					+ Arguments.shortened(unknown.getPropertyName()) + "; known are " + unknown.getKnownPropertyIds();
			case InputCoercionException _ when !mistake.getPath().isEmpty() ->
				"field " + mistake.getPath().getLast().getPropertyName() + " is out of range";
			case MismatchedInputException _ when !mistake.getPath().isEmpty() ->
				"field " + mistake.getPath().getLast().getPropertyName() + " has a value of the wrong type";
			default -> "the body is not a JSON object of this endpoint";
		};
	}

}
