/** `npm run soak [-- <minutes>]`: ten minutes by default. The exit code is 1 if a promise was broken. */
import { soak } from './soak.ts';

const minutes = Number(process.argv[2] ?? 10);
const startedAtMs = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - startedAtMs) / 1000).toFixed(0).padStart(5)} s  ${line}`);
const { answers, breaches, slowestMs } = await soak({ seconds: minutes * 60, faultEveryS: 8, print });

for (const [what, count] of [...answers].sort()) console.log(`${String(count).padStart(8)}  ${what}`);
console.log('Slowest of each call:');
for (const [what, ms] of [...slowestMs].sort()) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${what}`);
for (const breach of breaches) console.log(`BROKEN  ${breach}`);
console.log(breaches.length === 0 ? 'No promise was broken.' : `${breaches.length} promises were broken.`);
process.exitCode = breaches.length === 0 ? 0 : 1;
