/* A comparison with a query, as the pages show it: a query has words that the other side contains or lacks, and no
   phrases of its own. */

const OTHER_NAMES = { document: "this document", set: "these documents" };

/** Return the letter of the side that is a query; null if there is none, or two. */
export function findQuerySide({ a, b }) {
  if ((a.kind === "query") === (b.kind === "query")) return null;
  return a.kind === "query" ? "a" : "b";
}

/** Return what the other side of a query is called in a sentence. */
export const nameOtherSide = (answer) => OTHER_NAMES[answer[findQuerySide(answer) === "a" ? "b" : "a"].kind] ?? "this text";

/** Return the comparison without the phrases of a query alone, and without phrases that only repeat a word of it.
    `words`: those of the query that no common phrase contains. */
export function prepareAnswer(answer) {
  const query = findQuerySide(answer);
  if (!query) return answer;
  const { matched, common } = customElements.get("why-this-result").distil(answer);
  return { ...answer, common, words: matched, [`distinct_${query}`]: [] };
}
