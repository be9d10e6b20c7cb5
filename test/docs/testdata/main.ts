// Runs blocks of a page, one after the other.
import { weir } from "./around.js";

for (const name of process.argv.slice(2)) {
  await import(`./${name}.js`);
  console.log("\x1e");
}
await weir.close();
