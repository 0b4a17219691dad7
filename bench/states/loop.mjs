// Measures aws-local-stepfunctions: node loop.mjs '{"machine": ..., "input": ..., "rounds": N}' prints the seconds of the
// best run.

import { StateMachine } from "aws-local-stepfunctions";

const { machine, input, rounds } = JSON.parse(process.argv[2]);
let best = Infinity;
for (let round = 0; round < rounds; round += 1) {
  const prepared = new StateMachine(machine);
  const begun = performance.now();
  await prepared.run(input).result;
  best = Math.min(best, (performance.now() - begun) / 1000);
}
console.log(best);
