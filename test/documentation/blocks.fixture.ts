/**
 * The fenced blocks of every page, README included. The tag determines what a block is, and which test holds it (`tags`).
 * A comment before a block of `ts` declares what it assumes: `<!-- given … -->`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { allSettings } from '#app/settings.ts';
import { root } from '../acceptance/running.fixture.ts';

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly tag: string;
  /** The operation whose response the block shows, and the status of an error: `listThreads`, `fitImage 400`. */
  readonly response: string | undefined;
  readonly text: string;
  readonly given: string;
}

/** Each tag with what is done with its blocks. A block has one of these tags. */
export const tags = {
  sh: 'runs in a shell against a running suite, all blocks of a page in one shell',
  http: 'is sent to a running suite',
  sql: 'runs on PostgreSQL',
  ts: 'is type-checked; the blocks of extending.md and of the client run',
  tsx: 'is type-checked',
  diff: 'is applied to the sources',
  env: 'sets existing settings, which the configuration accepts',
  json: 'is parsed; lists of models are opened; `json response=<operationId>` matches the schema of that response',
  yaml: 'is parsed',
  ini: 'is parsed',
  bash: 'is parsed, and needs something that the suite does not have (`outside`), or another test runs its command (`runElsewhere`)',
  text: 'is no command: a drawing, a format or a response (`drawings`)',
} as const;

/** Commands that change another machine or this one, contact a provider, or wait for a debugger. */
export const outside =
  /^(?:aws|certbot|deploy\/host\/|docker|node \.ci\/|fly|git|install|journalctl|kubectl|nginx|npm (?:ci|install|pack|sbom)|npx wrangler|ollama|psql|radosgw-admin|rclone|rsync|runuser|sh utils\/|sudo|systemctl|venv\/bin\/)|^curl .*https:|--inspect/;

/** npm commands that take long, need an empty folder or change the installation, each with the file that runs the same. */
export const runElsewhere: Readonly<Record<string, string>> = {
  backup: 'test/operations/backup.nightly.test.ts',
  build: 'test/acceptance/build.test.ts',
  'build:client': 'test/client/project.ts',
  check: '.ci/run',
  demo: 'test/acceptance/combinations.nightly.test.ts',
  doctor: 'test/operations/doctor.test.ts',
  'import-legacy': 'test/acceptance/importlegacy.test.ts',
  licenses: 'test/release/release.test.ts',
  move: 'test/operations/move.nightly.test.ts',
  restore: 'test/operations/backup.nightly.test.ts',
  start: 'test/acceptance/start.test.ts',
  sweep: 'test/operations/s3restore.nightly.test.ts',
  test: '.ci/run',
};

/** npm commands that measure or write sources. `test/acceptance/help.test.ts` starts each with `--help`. */
export const longCommands = ['bench', 'dev', 'embedder', 'generate', 'measure', 'soak'];

/** Pages with blocks of `text`, and their number. */
export const drawings: Readonly<Record<string, number>> = {
  'ARCHITECTURE.md': 1,
  'docs/agent.md': 1,
  'docs/edge.md': 1,
  'docs/guides/redis.md': 2,
  'docs/guides/vite.md': 1,
  'docs/notify.md': 1,
};

/** The client's tests run its page as one program with the installed package, and check its README. */
const ofTheClient = ['docs/client.md', 'packages/client/README.md'];

export const pages: readonly string[] = globSync('{*.md,docs/**/*.md,packages/*/*.md,examples/**/*.md,tools/**/*.md}', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  .map((page) => page.replaceAll('\\', posix.sep))
  .sort();

export const blocks: readonly Block[] = pages.filter((page) => !ofTheClient.includes(page)).flatMap(blocksOf);

/** Variables of other programs, of the compose file, and of tests and benchmarks. */
const foreign = new RegExp(
  [
    '^(GOTRUE|S3_TEST|NEXT_PUBLIC|OLLAMA|AWS|RECALL)_',
    '^NODE_(EXTRA_CA_CERTS|OPTIONS|COMPILE_CACHE|IMAGE)$',
    '^ATELIER_(DOMAIN|FILES_DOMAIN|MEMORY)$',
    '_TEST_(URL|FOLDER|PROGRAM|RUNTIME)$',
    '^(POSTGRES|S3)_MEMORY$',
    '^(JWT_JWKS|JWT_KEYS|SITE_URL|ADDITIONAL_REDIRECT_URLS|ANTHROPIC_API_KEY|GEMINI_API_KEY|OPENAI_API_KEY|FAL_KEY|REPLICATE_API_TOKEN|INTERNAL)$',
    '^(ATELIER_SOURCES|ATELIER_COMMIT|CHROMIUM_PATH|TEST_LANE|ONNX_TEST_RUNTIME|MEM0_PYTHON|UV_THREADPOOL_SIZE)$',
    // A rule of SpamAssassin, and an example of a misspelled name.
    '^(MIXED_ES|DATABSE_URL)$',
  ].join('|'),
);
const settings: readonly string[] = allSettings.map(({ variable }) => variable);

export const isKnownVariable = (name: string) => settings.includes(name) || foreign.test(name);
export const isSetting = (name: string) => settings.includes(name);

/** Indented blocks belong to a list. */
function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fenced = text.matchAll(/(?:<!-- given\n([\s\S]*?)-->\n\n)?^( *)```([^\n]*)\n([\s\S]*?)^\2```$/gm);
  return [...fenced].map(({ index, 1: given = '', 2: indent = '', 3: info = '', 4: inner = '' }) => {
    const [tag = '', response] = info.split(' response=');
    return {
      page,
      line: text.slice(0, text.indexOf('```', index)).split('\n').length,
      tag,
      response,
      text: inner.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      given,
    };
  });
}

export const withTag = (...wanted: readonly (keyof typeof tags)[]) =>
  blocks.filter(({ tag }) => wanted.some((each) => each === tag));
