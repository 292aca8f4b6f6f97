/**
 * `npm run measure -- corpus <folder> [<output folder>]`: sends every file of a folder through the product, as three users in
 * turn: upload, registration, variants, signed URLs. Prints what each format was answered, and every anomaly: an answer that
 * is neither 2xx nor a documented 4xx, one that takes longer than 30 s, or a process that dies. The exit code is 1 if there
 * is any. The output folder gets one line for each file (`answers.tsv`), and the thumbnails.
 */
import { createHash, randomUUID } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../test/acceptance/running.fixture.ts';
import { startTestIssuer } from '../../test/platform/tokenissuer.fixture.ts';
import { freePortBase } from '../../test/ports.fixture.ts';
import { startSuite } from '../../test/soak/suites.ts';
import { type Answer, createJourney } from './journey.ts';
import { anomaliesOf, tableOf } from './report.ts';

const [folder, outputFolder] = process.argv.slice(2);
if (folder === undefined || !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
  throw new Error('Name a folder of image files: npm run measure -- corpus <folder> [<output folder>]');
const files = globSync('**/*', { cwd: folder })
  .filter((file) => statSync(join(folder, file)).isFile())
  // A run that is interrupted has seen every format.
  .sort((one, other) => shuffled(one).localeCompare(shuffled(other)));
const internalKey = 'a key of the benchmark';
const sampleEveryMs = 200;
const closing: (() => Promise<unknown>)[] = [];
try {
  const issuer = await startTestIssuer();
  closing.push(issuer.close);
  const dataFolder = await mkdtemp(join(tmpdir(), 'atelier-images-'));
  closing.push(() => rm(dataFolder, { recursive: true, force: true }));
  const portBase = await freePortBase();
  const suite = await startSuite(['media', 'image', 'edge'], portBase, {
    ATELIER_DATA_DIR: dataFolder,
    JWKS_URL: issuer.jwksUrl,
    INTERNAL_KEY: internalKey,
    SVC_IMAGE_INTERNAL_KEY: internalKey,
  });
  closing.push(suite.stop);
  const users = [randomUUID(), randomUUID(), randomUUID()];
  const journey = createJourney({ portBase, internalKey, documented: await documentedCodes() });
  let mostBytes = suite.residentBytes() ?? 0;
  const idleBytes = mostBytes;
  const sampling = setInterval(() => (mostBytes = Math.max(mostBytes, suite.residentBytes() ?? 0)), sampleEveryMs);
  closing.push(async () => clearInterval(sampling));

  const answers: Answer[] = [];
  for (const [index, file] of files.entries()) {
    const token = await issuer.token({ sub: users[index % users.length] });
    const { steps, thumbnail } = await journey(token, join(folder, file));
    if (suite.residentBytes() === undefined) {
      steps.push({ file, step: 'process', status: 0, code: 'ended', ms: 0, isDocumented: false });
      await suite.start();
    }
    answers.push(...steps.map((step) => ({ ...step, file })));
    if (outputFolder !== undefined) await store(outputFolder, index, file, steps, thumbnail);
    if ((index + 1) % 100 === 0) console.error(`${index + 1} of ${files.length} files`);
  }
  console.table(tableOf(answers));
  const anomalies = anomaliesOf(answers);
  for (const { file, step, status, code, ms } of anomalies)
    console.log(`ANOMALY ${file}: ${step} was answered ${status} ${code} after ${Math.round(ms)} ms`);
  for (const line of suite.errors) console.log(`LOGGED ${line.slice(0, 500)}`);
  const inMiB = (bytes: number) => Math.round(bytes / 1024 ** 2);
  console.log(
    `${files.length} files, ${anomalies.length} anomalies, ${suite.errors.length} errors in the log. ` +
      `Resident memory: ${inMiB(idleBytes)} MiB before, ${inMiB(mostBytes)} MiB at most, ${inMiB(suite.residentBytes() ?? 0)} MiB after.`,
  );
  process.exitCode = anomalies.length === 0 && suite.errors.length === 0 ? 0 : 1;
} finally {
  for (const close of closing.reverse()) await close();
}

function shuffled(file: string): string {
  return createHash('sha256').update(file).digest('hex');
}

/** The codes of docs/problems.md, each with its statuses: `422 undecodable_image`. */
async function documentedCodes(): Promise<ReadonlySet<string>> {
  const page = await readFile(join(root, 'docs/problems.md'), 'utf8');
  return new Set([...page.matchAll(/^\| (\d{3}) \| `(\w+)`/gm)].map(([, status, code]) => `${status} ${code}`));
}

async function store(
  into: string,
  index: number,
  file: string,
  steps: readonly Answer[],
  thumbnail: Uint8Array | undefined,
): Promise<void> {
  await mkdir(join(into, 'thumbnails'), { recursive: true });
  const line = [
    index,
    file,
    ...steps.map(({ step, status, code, ms }) => `${step} ${status} ${code} ${Math.round(ms)}`),
  ];
  await appendFile(join(into, 'answers.tsv'), `${line.join('\t')}\n`);
  if (thumbnail !== undefined) await writeFile(join(into, 'thumbnails', `${index}.webp`), thumbnail);
}
