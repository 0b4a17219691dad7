// Measures jsonata-js on what it is told to: node jsonata.mjs WARM_UP_SECONDS BATCHES BATCH_SECONDS
//
// Every line that comes in is a JSON object: {"document": NAME, "value": ...} keeps a document, and
// {"expression": TEXT, "document": NAME, "bindings": ...} evaluates an expression over one that was kept. The answer to
// the second is a line with the result and the seconds of one evaluation, the mean of the best batch.

import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import jsonata from "jsonata";

const [warmUp, batches, batchSeconds] = process.argv.slice(2).map(Number);
const documents = new Map();
console.log(JSON.stringify(createRequire(import.meta.url)("jsonata/package.json").version));

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line);
  if (told.expression === undefined) {
    documents.set(told.document, told.value);
  } else {
    console.log(JSON.stringify(await measure(told)));
  }
}

async function measure({ expression, document, bindings }) {
  const prepared = jsonata(expression);
  bindings.states.input = documents.get(document);
  const once = () => prepared.evaluate(undefined, bindings);
  const result = (await once()) ?? null;
  // As many times as fill a batch.
  let count = 0;
  const begun = performance.now();
  do {
    await once();
    count += 1;
  } while (performance.now() - begun < warmUp * 1000);
  const each = Math.max(1, Math.round((count * batchSeconds) / warmUp));
  let best = Infinity;
  for (let batch = 0; batch < batches; batch += 1) {
    const start = performance.now();
    for (let turn = 0; turn < each; turn += 1) {
      await once();
    }
    best = Math.min(best, (performance.now() - start) / 1000 / each);
  }
  return { result, seconds: best };
}
