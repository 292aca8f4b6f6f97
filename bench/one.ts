/** Runs the benchmark that the argument names, and sends its rows. */
import { benches } from './benches.ts';

const rows = await benches.find(({ name }) => name === process.argv[2])?.run();
process.send?.(rows, () => process.exit());
