/**
 * `npm run bench [-- name[:part]…]`: runs the benchmarks (docs/performance.md). The peers that they measure against have a package of
 * their own in this folder.
 */
import { runBenches } from './running.ts';

const list = new URL('benches.ts', import.meta.url).href;
process.exit(await runBenches(list, process.argv.slice(2), { write: (line) => console.log(line) }));
