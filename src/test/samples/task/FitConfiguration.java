package com.acme;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

@AutoConfiguration
public class FitConfiguration {

    @Bean
    Fit wideFit() {
        return new Fit(new Fit.Options(64, 0.01));
    }

}
