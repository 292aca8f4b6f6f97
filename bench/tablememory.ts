/** Sends how many bytes of resident memory the built-in embedder's table takes. */
import { loadTable } from '../src/memory/embedding/builtin.ts';

globalThis.gc?.();
const before = process.memoryUsage.rss();
await loadTable();
globalThis.gc?.();
process.send?.(process.memoryUsage.rss() - before, () => process.exit());
