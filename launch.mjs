// The entry point of every `npm run` command, in a checkout and in a release. Plain JavaScript for Node 18 and newer. In a
// checkout, it installs missing packages of the lockfile, builds the program if the sources have changed, and installs a newer
// Node if the system's is too old. A release is complete, so nothing is built or installed there.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(root, ...parts);
const isCheckout = existsSync(at('src'));
const isProduction = process.env.NODE_ENV === 'production';
const [command = 'start', ...args] = process.argv.slice(2);

if (args.includes('--help') || args.includes('-h')) showUsage();
// The last step of `npm ci`, so that a start in production finds a Node that is new enough.
if (command === 'postinstall') {
  findNode();
  process.exit(0);
}

// Parallel checkers repeat each other's work: on two processors, one checker takes as long and half the processor time.
const tsc = (...words) => [at('node_modules/typescript/bin/tsc'), '--noEmit', '--singleThreaded', ...words];
const vitest = (...words) => [at('node_modules/vitest/vitest.mjs'), 'run', ...words];
/** Benchmarks import modules of the sources, and run the build of them. */
const built = (...words) => [`--import=${new URL('test/runner/usebuild.mjs', import.meta.url)}`, ...words];
/** What `npm run measure` measures. */
const measurements = {
  capacity: 'growth/capacity.ts',
  corpus: 'corpus/main.ts',
  day: 'growth/day.ts',
  growth: 'growth/main.ts',
};
if (isCheckout && command === 'measure' && !Object.hasOwn(measurements, args[0] ?? '')) showUsage(1);
/** Maps a command to [whether it needs the development packages, the programs to run in order]. Node flags precede a program. */
const commands = {
  test: [true, [vitest(...args)]],
  check: [
    true,
    [
      tsc(),
      tsc('--project', at('src/console/web')),
      tsc('--project', at('src/client')),
      [at('node_modules/@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', ...args],
      [at('node_modules/knip/bin/knip.js')],
      [at('tools/prose/main.ts')],
      vitest('test/house'),
    ],
  ],
  dev: [false, [['--watch', '--watch-preserve-output', at('src/main.ts'), 'start', ...args]]],
  generate: [true, [[at('tools/generate/main.ts')]]],
  build: [false, [[at('build.mjs')]]],
  'build:console': [true, [[at('node_modules/vite/bin/vite.js'), 'build', at('src/console/web')]]],
  'build:client': [true, [[at('tools/buildclient.ts'), ...args]]],
  licenses: [false, [[at('tools/licenses/main.ts')]]],
  measure: [true, [built(at('bench', measurements[args[0]] ?? ''), ...args.slice(1))]],
  soak: [true, [built(at('test/soak/main.ts'), ...args)]],
  bench: [true, [built(at('bench/main.ts'), ...args)]],
};
const [needsDevelopment, programs] = (isCheckout && commands[command]) || [false];

const missing = isCheckout ? whatIsMissing(needsDevelopment) : whatReleaseLacks();
if (missing !== undefined) install(missing, needsDevelopment);
// Libraries that only benchmarks compare with are in a separate package.
if (isCheckout && command === 'bench' && !existsSync(at('bench/node_modules'))) npm(['ci', '--prefix', at('bench')]);
const node = findNode();
const sequence = programs ?? [[await findProgram(), command, ...args]];
for (const program of sequence) {
  if (program === sequence.at(-1)) becomeProgram(program);
  const code = await run(program);
  if (code !== 0) process.exit(code);
}

/** Prints the usage and exits before anything is installed or run. */
function showUsage(code = 0) {
  const usages = JSON.parse(readFileSync(at(isCheckout ? 'src' : '.', 'commands/usages.json'), 'utf8'));
  const { usage, summary, details = [] } = Object.hasOwn(usages, command) ? usages[command] : {};
  if (usage === undefined) {
    console.error(`Unknown command \`${command}\`. Commands: ${Object.keys(usages).join(', ')}.`);
    process.exit(1);
  }
  console.log([`Usage: ${usage}`, '', summary, ...details].join('\n'));
  process.exit(code);
}

/** Compares npm's record of installed packages with the lockfile. Returns the first package that differs. */
function whatIsMissing(development) {
  if (!existsSync(at('node_modules/.package-lock.json'))) return 'everything';
  const locked = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(at('node_modules/.package-lock.json'), 'utf8')).packages;
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer || (entry.dev && !development)) continue;
    if (installed[path]?.version !== entry.version) return path.replace('node_modules/', '');
  }
  return undefined;
}

/** A release may use packages of a folder around it, so only their presence matters. */
function whatReleaseLacks() {
  const { dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const folders = [root];
  while (dirname(folders.at(-1)) !== folders.at(-1)) folders.push(dirname(folders.at(-1)));
  return Object.keys(dependencies).find(
    (name) => !folders.some((each) => existsSync(join(each, 'node_modules', name))),
  );
}

function install(missing, development) {
  const fresh = missing === 'everything';
  const first = development && !existsSync(at('node_modules/typescript'));
  const problem = fresh ? 'The packages are not installed' : `The package ${missing} is missing or has another version`;
  const place = isCheckout ? 'A start in production' : 'A release';
  if (!isCheckout || isProduction) fail(`${problem}. ${place} installs nothing. Run \`npm ci --omit=dev\` in ${root}.`);
  console.error(
    fresh
      ? 'Installing the packages of package-lock.json …'
      : `Installing (${first ? `${command} needs the packages for development` : `${missing} differs from the lockfile`}) …`,
  );
  // `npm ci` removes node_modules first, which would break a running instance, so it is used only on a fresh clone.
  // Installed development packages stay, even if the command does not need them.
  const whole = development || existsSync(at('node_modules/typescript'));
  npm([...(fresh ? ['ci'] : ['install', '--no-save']), whole ? '--include=dev' : '--omit=dev']);
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
  if (result.status !== 0) fail('The installation failed. See the npm output above.');
}

/** Returns this Node, or the one of runtime/package-lock.json if this one is older than package.json requires. */
function findNode() {
  const { engines } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = engines.node.replace('>=', '').split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return process.execPath;
  const needed = `Atelier runs on Node ${oldestMajor}.${oldestMinor} and newer, and this is ${process.version}.`;
  const name = `node-${process.platform}-${process.arch}`;
  const packaged = at('runtime/node_modules', name, 'bin/node');
  if (existsSync(packaged)) return packaged;
  const available = existsSync(at('runtime/package.json'))
    ? JSON.parse(readFileSync(at('runtime/package.json'), 'utf8')).optionalDependencies
    : {};
  if (!(name in available) || (isProduction && command !== 'postinstall'))
    fail(`${needed} Install a newer one from https://nodejs.org and try again.`);
  console.error(`${needed} Installing Node ${available[name]} in the folder runtime …`);
  npm(['ci', '--prefix', at('runtime')]);
  return packaged;
}

/** Returns the built program, or the sources if they are asked for or cannot be built. */
async function findProgram() {
  if (!isCheckout) return at('main.mjs');
  if (process.env.ATELIER_SOURCES === 'true') return at('src/main.ts');
  const { findBuild } = await import('./build.mjs');
  try {
    return join(
      findBuild(root, () => console.error('Building the program …')),
      'main.mjs',
    );
  } catch (error) {
    console.error(`The program cannot be built, so the sources run instead: ${error.message.split('\n')[0]}`);
    return at('src/main.ts');
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Returns the arguments and the environment of a program. */
function invocation(program) {
  const processors = os.availableParallelism?.() ?? os.cpus().length;
  const env = {
    // glibc returns freed memory. An idle process holds 190 MB instead of 270.
    MALLOC_TRIM_THRESHOLD_: '131072',
    // Later starts read the compiled code of earlier ones, which saves a third of their CPU time. A build's is removed with it.
    NODE_COMPILE_CACHE: program[0].endsWith('main.mjs')
      ? join(dirname(program[0]), 'compiled')
      : at('node_modules/.cache/node-compile'),
    // Each image uses a thread, up to the number of processors. File access and name lookups must not wait for them.
    UV_THREADPOOL_SIZE: String(processors + 4),
    ...process.env,
  };
  return { words: ['--disable-warning=ExperimentalWarning', ...program], env };
}

/**
 * Replaces this process by the program, which then receives signals directly. A launcher that waits takes another 50 MB. Returns if
 * this version of Node or the platform cannot do it.
 */
function becomeProgram(program) {
  if (process.execve === undefined || !['linux', 'darwin'].includes(process.platform)) return;
  const { words, env } = invocation(program);
  process.execve(node, [node, ...words], env);
}

/** Runs one program, forwards signals to it, and resolves to its exit code. */
function run(program) {
  const { words, env } = invocation(program);
  // The working directory is not changed, because paths on the command line are relative to it.
  const child = spawn(node, words, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1)));
  });
}
