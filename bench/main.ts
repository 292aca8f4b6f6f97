/**
 * `npm run bench [-- name…]`: runs the benchmarks and ends with a table; exit code 1 when a row is outside its bound. The
 * peers that they measure against have a package of their own in this folder.
 */
import { loadavg } from 'node:os';
import { agent } from './agent.ts';
import type { Row } from './bench.ts';
import { content } from './content.ts';
import { deletion } from './deletion.ts';
import { benches as imageBenches } from './image.ts';
import { memory } from './memory.ts';
import { posts } from './posts.ts';
import { presign } from './presign.ts';
import { recall } from './recall.ts';
import { refresh } from './refresh.ts';
import { registration } from './registration.ts';
import { screening } from './screening.ts';
import { signing } from './signing.ts';
import { start } from './start.ts';
import { idleStreams } from './streams.ts';
import { variantMemory } from './variantmemory.ts';
import { videoWatermark } from './videowatermark.ts';

const benches = [
  presign,
  signing,
  deletion,
  refresh,
  ...imageBenches,
  content,
  posts,
  memory,
  recall,
  agent,
  screening,
  videoWatermark,
  start,
  idleStreams,
  registration,
  variantMemory,
];

const named = process.argv.slice(2);
const chosen = benches.filter(({ name }) => named.length === 0 || named.some((word) => name.startsWith(word)));
if (chosen.length === 0) {
  console.error(`There is no such benchmark; there are ${benches.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

const rows: (Row & { readonly bench: string })[] = [];
for (const { name, run } of chosen) {
  console.error(`${name} …`);
  for (const row of await run()) rows.push({ bench: name, ...row });
}
console.table(
  rows.map(({ bench, goal, measured, bound, against, holds }) => ({
    bench,
    goal,
    against,
    measured: Number(measured.toPrecision(3)),
    bound,
    holds: holds ? 'yes' : 'NO',
  })),
);
console.log(
  `Medians of interleaved rounds; load of the machine over the last minute: ${(loadavg()[0] ?? 0).toFixed(1)}.`,
);
process.exit(rows.every(({ holds }) => holds) ? 0 : 1);
