/* The official JavaScript client: node search.mjs MODULES URL. Reads [method, arguments] of its calls from stdin, prints
   what each returns, or {error: {status, body}}. */
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const [modules, node] = process.argv.slice(2);
const { Client } = createRequire(`${modules}/`)("@elastic/elasticsearch");
const client = new Client({ node, maxRetries: 0 });
const replies = [];
for (const [method, options] of JSON.parse(await text(process.stdin))) {
  try {
    replies.push(await client[method](options, { headers: { Prefer: "wait=60" } }));
  } catch (error) {
    replies.push({ error: { status: error.statusCode, type: error.body?.error?.type, body: error.body ?? String(error) } });
  }
}
console.log(JSON.stringify(replies));
