package dev.berth.openinference;

import dev.berth.config.Findings;
import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;
import dev.berth.config.Syntax;
import java.util.Optional;

/// Where gRPC listens. It can be read where there is no library for gRPC, as in Spark's executors.
public final class GrpcConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(GrpcConfig.class);

    /// 0 takes any free port. Unset: no gRPC.
    static final Setting<Integer> PORT = SETTINGS.of("grpc-port", Syntax.wholeNumber(0, 65535));

    @Override
    public void check(ServerConfig config, Findings findings) {
        int http = config.get(HttpConfig.PORT);
        if (http > 0 && config.find(PORT).equals(Optional.of(http))) {
            findings.problem("grpc-port: found %d, which is the port of HTTP too; expected another".formatted(http));
        }
    }
}
