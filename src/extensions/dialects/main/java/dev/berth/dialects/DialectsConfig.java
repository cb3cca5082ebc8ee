package dev.berth.dialects;

import static dev.berth.config.HttpConfig.route;
import static dev.berth.config.PlatformConfig.atDesk;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.MultiModelConfig;
import dev.berth.config.Reading;
import java.util.Optional;

/// Which paths of other servers there are.
///
/// @param torchServe those of TorchServe, by the setting of boto3's
/// @param taskClients those of clients for ready tasks
/// @param predictRoute a path that takes `{"instances": […]}` and answers `{"predictions": […]}`
record DialectsConfig(boolean torchServe, boolean taskClients, Optional<String> predictRoute) {

    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            var predict = route(reading, "predict-route", "/invocations", "/inferences");
            if (predict.isPresent() && MultiModelConfig.isEnabled(reading)) {
                reading.problem(
                        "AIP_PREDICT_ROUTE: found a server of many models, expected one model; set BERTH_MODEL_DIR");
            }
            return new DialectsConfig(atDesk("--runtime-api", reading), atDesk("--client-paths", reading), predict);
        }
    }
}
