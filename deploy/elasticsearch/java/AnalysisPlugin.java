package phrasecom.analysis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.synonym.SynonymGraphFilter;
import org.apache.lucene.analysis.synonym.SynonymMap;
import org.apache.lucene.util.CharsRef;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.Plugin;

/**
 * The token filters porter_stem, asciifolding and synonym_graph ("synonyms": ["car, motor car"]) under their usual
 * names; the module that has them is not published.
 */
public final class AnalysisPlugin extends Plugin implements org.elasticsearch.plugins.AnalysisPlugin {
    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of(
            "porter_stem", (index, environment, name, settings) -> new Filter(name, PorterStemFilter::new),
            "asciifolding", (index, environment, name, settings) -> new Filter(name, ASCIIFoldingFilter::new),
            "synonym_graph", (index, environment, name, settings) -> {
                SynonymMap synonyms = readSynonyms(settings.getAsList("synonyms"));
                return new Filter(name, input -> new SynonymGraphFilter(input, synonyms, true));
            });
    }

    private static SynonymMap readSynonyms(List<String> lines) {
        SynonymMap.Builder builder = new SynonymMap.Builder(true);
        for (String line : lines) {
            String[] terms = line.split("\\s*,\\s*");
            for (String term : terms) {
                for (String other : terms) {
                    if (!term.equals(other)) {
                        builder.add(join(term), join(other), true);
                    }
                }
            }
        }
        try {
            return builder.build();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static CharsRef join(String words) {
        return new CharsRef(words.replace(' ', SynonymMap.WORD_SEPARATOR));
    }

    private record Filter(String name, UnaryOperator<TokenStream> wrap) implements TokenFilterFactory {
        @Override
        public TokenStream create(TokenStream input) {
            return wrap.apply(input);
        }
    }
}
