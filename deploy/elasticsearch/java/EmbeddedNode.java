package phrasecom.embedded;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.elasticsearch.bootstrap.BootstrapInfo;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Runs the official node on a plain class path: no security manager, no bootstrap checks.
 * For tests and trials only.
 *
 * Usage: EmbeddedNode CONFIG_DIR (which holds elasticsearch.json and log4j2.properties).
 * Prints "started" on standard output, then stays until its standard input ends or its parent does.
 */
public final class EmbeddedNode {
    private EmbeddedNode() {}

    public static void main(String[] argv) {
        PrintStream out = System.out; // configuring the log replaces both streams
        PrintStream err = System.err;
        try {
            Node node = create(Path.of(argv[0]).toAbsolutePath());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node), "close-node"));
            node.start();
            out.println("started");
            out.flush();
            stayWithParent();
        } catch (Throwable failure) {
            failure.printStackTrace(err);
            err.flush();
            System.exit(1);
        }
        System.exit(0);
    }

    private static Node create(Path config) throws Exception {
        LogConfigurator.registerErrorListener();
        BootstrapInfo.init();
        Settings settings = Settings.builder().loadFromPath(config.resolve("elasticsearch.json")).build();
        Environment environment = new Environment(settings, config);
        LogConfigurator.setClusterName(ClusterName.CLUSTER_NAME_SETTING.get(settings).value());
        LogConfigurator.setNodeName(Node.NODE_NAME_SETTING.get(settings));
        LogConfigurator.configure(environment, true);
        return new Node(environment, PluginsLoader.createPluginsLoader(
            PluginsLoader.loadModulesBundles(environment.modulesDir(), false),
            PluginsLoader.loadPluginsBundles(environment.pluginsDir(), false),
            Map.of(),
            false // on a class path there are no modules whose packages could be opened
        ));
    }

    /** A fork of the parent may hold our standard input open, so the parent itself is watched too. */
    private static void stayWithParent() throws Exception {
        ProcessHandle.current().parent().ifPresent(parent -> parent.onExit().thenRun(() -> System.exit(1)));
        while (System.in.read() >= 0) {
        }
    }

    private static void close(Node node) {
        try {
            node.prepareForClose();
            node.close();
            node.awaitClose(10, TimeUnit.SECONDS);
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
