// The entry point of every `npm run` command. Plain JavaScript for Node 18 and newer: it installs missing packages of the
// lockfile and runs the command with Node 24 (the pinned one if the system's is older).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCacheOf, findProgram, ranEsbuild } from './bundle.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(root, ...parts);
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const [command = 'start', ...args] = process.argv.slice(2);

if (args.includes('--help') || args.includes('-h')) showUsage();

// Parallel checkers repeat each other's work: on two processors, one checker takes as long and half the processor time.
const tsc = (...words) => [at('node_modules/typescript/bin/tsc'), '--noEmit', '--singleThreaded', ...words];
/** Maps a command to [whether it needs the development packages, the programs to run in order]. Node flags precede a program. */
const commands = {
  test: [true, [[at('node_modules/vitest/vitest.mjs'), 'run', ...args]]],
  check: [
    true,
    [
      tsc(),
      tsc('--project', at('src/console/web')),
      tsc('--project', at('src/client')),
      [at('node_modules/@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', ...args],
      [at('node_modules/knip/bin/knip.js')],
      [at('test/prose/main.ts')],
      [at('node_modules/vitest/vitest.mjs'), 'run', 'test/house'],
    ],
  ],
  dev: [false, [['--watch', '--watch-preserve-output', at('src/main.ts'), 'start', ...args]]],
  generate: [true, [[at('test/generated/main.ts')]]],
  'build:console': [true, [[at('node_modules/vite/bin/vite.js'), 'build', at('src/console/web')]]],
  'build:client': [true],
  capacity: [true, [[at('bench/growth/capacity.ts'), ...args]]],
  day: [true, [[at('bench/growth/day.ts'), ...args]]],
  growth: [true, [[at('bench/growth/main.ts'), ...args]]],
  corpus: [true, [[at('bench/corpus/main.ts'), ...args]]],
  soak: [true, [[at('test/soak/main.ts'), ...args]]],
  bench: [true, [[at('bench/main.ts'), ...args]]],
};
const [needsDevelopment, programs] = commands[command] ?? [false];

const missing = whatIsMissing(needsDevelopment);
if (missing !== undefined) install(missing, needsDevelopment);
// Libraries that only benchmarks compare with are in a separate package.
if (command === 'bench' && !existsSync(at('bench/node_modules'))) npm(['ci', '--prefix', at('bench')]);
const node = findNode();
const isNode24 = node !== process.execPath || process.versions.node.startsWith('24.');
const sequence = programs ?? [[await findProgram(), command, ...args]];
for (const program of sequence) {
  if (program === sequence.at(-1) && !ranEsbuild()) becomeProgram(node, program);
  const code = await run(node, program);
  if (code !== 0) process.exit(code);
}

/** Prints the usage and exits before anything is installed or run. */
function showUsage() {
  const usages = JSON.parse(readFileSync(at('src/commands/usages.json'), 'utf8'));
  const { usage, summary, details = [] } = Object.hasOwn(usages, command) ? usages[command] : {};
  if (usage === undefined) {
    console.error(`Unknown command \`${command}\`. Commands: ${Object.keys(usages).join(', ')}.`);
    process.exit(1);
  }
  console.log([`Usage: ${usage}`, '', summary, ...details].join('\n'));
  process.exit(0);
}

/** Compares npm's record of installed packages with the lockfile. Returns the first package that differs. */
function whatIsMissing(development) {
  if (!existsSync(at('node_modules/.package-lock.json'))) return 'everything';
  // An installation for production lacks files that development needs, such as type declarations (bundle.mjs).
  if (development && !existsSync(at('node_modules/typescript'))) return 'everything';
  const locked = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(at('node_modules/.package-lock.json'), 'utf8')).packages;
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer || (entry.dev && !development)) continue;
    if (installed[path]?.version !== entry.version) return path.replace('node_modules/', '');
  }
  return undefined;
}

function install(missing, development) {
  const fresh = missing === 'everything';
  console.error(
    fresh ? 'Installing the packages of package-lock.json …' : `Installing (${missing} differs from the lockfile) …`,
  );
  // `npm ci` removes node_modules first, which would break a running instance, so it is used only on a fresh clone.
  // Installed development packages stay, even if the command does not need them.
  const whole = development || existsSync(at('node_modules/typescript'));
  const words = [...(fresh ? ['ci'] : ['install', '--no-save']), whole ? '--include=dev' : '--omit=dev'];
  npm(words);
}

function npm(words) {
  const script = process.env.npm_execpath;
  const viaNode = script !== undefined && /\.c?js$/.test(script);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync(viaNode ? process.execPath : 'npm', [...(viaNode ? [script] : []), ...words, ...quiet], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !viaNode && process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error('The installation failed. See the npm output above.');
    process.exit(1);
  }
}

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${nodePackage}/package.json`)), 'bin', 'node');
  } catch {
    console.error(
      `Atelier runs on Node 24 (this is ${process.version}), and no pinned Node exists for ${process.platform}-${process.arch}. Install Node 24 and try again.`,
    );
    process.exit(1);
  }
}

/** Returns the arguments and the environment of a program. */
function invocation(program) {
  const processors = os.availableParallelism?.() ?? os.cpus().length;
  const flags = [
    '--disable-warning=ExperimentalWarning',
    // V8's background threads must leave a processor to the event loop. Otherwise a start takes a fifth longer.
    `--v8-pool-size=${Math.min(4, Math.max(1, processors - 1))}`,
    // With the default of 400, V8 optimizes so many functions during a start that 6 MB stay allocated. Other versions of V8 may
    // not have this option, and would refuse to start.
    ...(isNode24 ? ['--invocation-count-for-maglev=1000'] : []),
  ];
  const env = {
    // sharp's threads fragment the heap less with two arenas.
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '131072',
    // Later starts read the compiled code of earlier ones, which saves a third of their CPU time.
    NODE_COMPILE_CACHE: compileCacheOf(program[0]),
    // Each image uses a thread, up to the number of processors. File access and name lookups must not wait for them.
    UV_THREADPOOL_SIZE: String(processors + 4),
    ...process.env,
  };
  return { words: [...flags, ...program], env };
}

/**
 * Replaces this process by the program, which then receives signals directly. A launcher that waits takes another 50 MB. Returns if
 * this version of Node or the platform cannot do it.
 */
function becomeProgram(node, program) {
  if (process.execve === undefined || !['linux', 'darwin'].includes(process.platform)) return;
  const { words, env } = invocation(program);
  process.execve(node, [node, ...words], env);
}

/** Runs one program, forwards signals to it, and resolves to its exit code. */
function run(node, program) {
  const { words, env } = invocation(program);
  // The working directory is not changed, because paths on the command line are relative to it.
  const child = spawn(node, words, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1)));
  });
}
