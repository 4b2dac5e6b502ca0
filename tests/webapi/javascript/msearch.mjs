/* Several searches with the official JavaScript client: node msearch.mjs MODULES URL. Reads what `msearch` takes from
   stdin and prints what it returns. */
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const [modules, node] = process.argv.slice(2);
const { Client } = createRequire(`${modules}/`)("@elastic/elasticsearch");
const client = new Client({ node });
console.log(JSON.stringify(await client.msearch(JSON.parse(await text(process.stdin)))));
