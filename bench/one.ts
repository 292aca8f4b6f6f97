/** Runs the benchmark that the first argument names, or the part of it that the second one names, and sends its rows. */
import { benches } from './benches.ts';

const rows = await benches.find(({ name }) => name === process.argv[2])?.run(process.argv[3] ?? '');
process.send?.(rows, () => process.exit());
