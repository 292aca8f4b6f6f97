/** The prose linter of `npm run check`: prints each fault with its file and line, and fails if there is one. */
import { exceptions } from './exceptions.ts';
import { lintFiles } from './files.ts';

const files = lintFiles();
const checked = files.filter(({ isExcepted }) => !isExcepted);
const lines = checked.flatMap(({ path, faults }) => faults.map(({ line, message }) => `${path}:${line}: ${message}`));
for (const line of lines) console.error(line);

const clean = files.filter(
  ({ path, isExcepted, faults }) => isExcepted && faults.length === 0 && exceptions.includes(path),
);
if (clean.length > 0)
  console.log(`Without faults, remove from test/prose/exceptions.ts: ${clean.map(({ path }) => path).join(', ')}`);
console.log(
  `Prose: ${checked.length} files checked, ${files.length - checked.length} excepted, ${lines.length} faults.`,
);
process.exitCode = lines.length === 0 ? 0 : 1;
