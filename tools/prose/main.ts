/** The prose linter of `npm run check`: prints each fault with its file and line, and fails if there is one. */
import { lintFiles } from './files.ts';

const files = lintFiles();
const lines = files.flatMap(({ path, faults }) => faults.map(({ line, message }) => `${path}:${line}: ${message}`));
for (const line of lines) console.error(line);
console.log(`Prose: ${files.length} files checked, ${lines.length} faults.`);
process.exitCode = lines.length === 0 ? 0 : 1;
