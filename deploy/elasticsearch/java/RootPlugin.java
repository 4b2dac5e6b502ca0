package phrasecom.root;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;

/** Answers GET / and HEAD /, which clients ask for the version; the module that does so is not published. */
public final class RootPlugin extends Plugin implements ActionPlugin {
    private volatile ClusterService cluster;

    @Override
    public Collection<?> createComponents(PluginServices services) {
        cluster = services.clusterService();
        return List.of();
    }

    @Override
    public Collection<RestHandler> getRestHandlers(
        RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features) {
        return List.of(new Root());
    }

    private final class Root extends BaseRestHandler {
        @Override
        public String getName() {
            return "phrasecom_root";
        }

        @Override
        public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
        }

        @Override
        protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
            return channel -> {
                Build build = Build.current();
                try (var body = channel.newBuilder()) {
                    body.startObject();
                    body.field("name", cluster.getNodeName());
                    body.field("cluster_name", cluster.getClusterName().value());
                    body.field("cluster_uuid", cluster.state().metadata().clusterUUID());
                    body.startObject("version");
                    body.field("number", build.qualifiedVersion());
                    body.field("build_flavor", build.flavor());
                    body.field("build_hash", build.hash());
                    body.field("lucene_version", IndexVersion.current().luceneVersion().toString());
                    body.endObject();
                    body.field("tagline", "You Know, for Search");
                    body.endObject();
                    channel.sendResponse(new RestResponse(RestStatus.OK, body));
                }
            };
        }
    }
}
