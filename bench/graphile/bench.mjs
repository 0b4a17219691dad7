// Measures graphile-worker with its batching on: node bench.mjs URL JOBS PROCESSES
//
// The jobs are there before the clock starts, and so are the processes; it stops when the last job has left the
// database. Prints two numbers: jobs enqueued a second, and jobs run a second.

import { fork } from "node:child_process";
import { once } from "node:events";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const BATCH = 1000;
const ENQUEUERS = 4;
const CONCURRENT_JOBS = Number(process.env.CONCURRENT_JOBS ?? 24);
const LOCAL_QUEUE = Number(process.env.LOCAL_QUEUE ?? 500);

const silent = new Logger(() => () => {});
const [, , url, jobsText, processesText] = process.argv;

if (process.send) {
  await work();
} else {
  await measure(Number(jobsText), Number(processesText));
}

/** A process that works: says when it is ready, begins when it is told to, and reports what it has run. */
async function work() {
  let finished = 0;
  setInterval(() => process.send({ finished }), 20).unref();
  process.send({ ready: true });
  await once(process, "message");
  await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: CONCURRENT_JOBS,
        maxPoolSize: CONCURRENT_JOBS + 2,
        localQueue: { size: LOCAL_QUEUE },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    logger: silent,
    noHandleSignals: true,
    taskList: {
      noop: () => {
        finished += 1;
      },
    },
  });
}

async function measure(jobs, processes) {
  const utils = await makeWorkerUtils({ connectionString: url, logger: silent });
  await utils.migrate();
  const pool = new pg.Pool({ connectionString: url, max: ENQUEUERS });
  const enqueued = await timed(() => enqueue(pool, jobs));
  await pool.query("VACUUM ANALYZE");
  await pool.query("CHECKPOINT");

  const workers = Array.from({ length: processes }, () => fork(process.argv[1], [url]));
  const finished = new Array(processes).fill(0);
  await Promise.all(workers.map((worker) => once(worker, "message")));
  workers.forEach((worker, place) => {
    worker.on("message", (message) => {
      finished[place] = message.finished ?? finished[place];
    });
  });
  const ran = await timed(async () => {
    workers.forEach((worker) => worker.send("go"));
    // Looking for what is left costs the server time: first all jobs must have been run.
    while (finished.reduce((sum, count) => sum + count, 0) < jobs) {
      await sleep(10);
    }
    while ((await pool.query("SELECT 1 FROM graphile_worker.jobs LIMIT 1")).rowCount > 0) {
      await sleep(10);
    }
  });
  workers.forEach((worker) => worker.kill("SIGKILL"));
  await pool.end();
  await utils.release();
  console.log(`${jobs / enqueued} ${jobs / ran}`);
}

/** Several connections, each with one batch after the other. */
async function enqueue(pool, jobs) {
  let next = 0;
  const enqueuer = async () => {
    while (next < jobs) {
      const start = next;
      next += BATCH;
      const count = Math.min(BATCH, jobs - start);
      const specs = Array.from({ length: count }, (_, place) => ({ identifier: "noop", payload: { n: start + place } }));
      await pool.query(
        `SELECT 1 FROM graphile_worker.add_jobs(
           array(SELECT json_populate_recordset(null::graphile_worker.job_spec, $1::json)), false)`,
        [JSON.stringify(specs)],
      );
    }
  };
  await Promise.all(Array.from({ length: ENQUEUERS }, enqueuer));
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return (performance.now() - begun) / 1000;
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
