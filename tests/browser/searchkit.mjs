/* The server side of Searchkit, as its users write it: node searchkit.mjs SCRIPT HOST HOOKS. HOST: where it searches.
   HOOKS: code that sets `hooks`. Prints its port; ends with whoever started it. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [script, host, code] = process.argv.slice(2);
const Searchkit = new Function(`${readFileSync(script, "utf8")}\nreturn Searchkit;`)();
const hooks = new Function(`${code}\nreturn hooks;`)();
const kit = new Searchkit({
  connection: { host },
  search_settings: { search_attributes: ["title", "text"], result_attributes: ["title"], highlight_attributes: ["title"] },
});

const server = createServer(async (request, response) => {
  try {
    const parts = [];
    for await (const part of request) parts.push(part);
    const found = await kit.handleInstantSearchRequests(JSON.parse(Buffer.concat(parts)), { hooks });
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(found));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
