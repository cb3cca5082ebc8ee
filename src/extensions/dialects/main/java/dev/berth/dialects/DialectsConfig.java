package dev.berth.dialects;

import dev.berth.config.Findings;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;

/// Which paths of other servers there are.
public final class DialectsConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(DialectsConfig.class);

    /// Those of TorchServe, by the setting of boto3's.
    static final Setting<Boolean> TORCH_SERVE = SETTINGS.atDesk("runtime-api");

    /// A path that takes `{"instances": […]}` and answers `{"predictions": […]}`.
    static final Setting<String> PREDICT_ROUTE = SETTINGS.of("predict-route", HttpConfig.ROUTE);

    /// Those of clients for ready tasks.
    static final Setting<Boolean> TASK_CLIENTS = SETTINGS.atDesk("client-paths");

    @Override
    public void check(ServerConfig config, Findings findings) {
        var predict = config.find(PREDICT_ROUTE);
        findings.claim(PREDICT_ROUTE, predict, "/invocations", "/inferences");
        if (predict.isPresent() && ModelConfig.areMany(config)) {
            findings.problem(
                    "AIP_PREDICT_ROUTE: found a server of many models, expected one model; set BERTH_MODEL_DIR");
        }
    }
}
