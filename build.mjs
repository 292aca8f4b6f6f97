// Builds the program: src/main.ts and each thread and process of its own become a file at the same path. They share chunks, which
// contain all other modules and the packages.
//
// A build is stored under a digest of everything that it is made from, and `dist` is a link to the last one. So a change of the
// sources or packages makes another folder, and a running instance keeps its own. Plain JavaScript for Node 18 and newer, because
// the launcher uses it.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
/** Builds that were not among the last ones used are removed. */
const buildsKept = 5;
/** These packages contain native code, or find files of their own by their path. */
const unbundled = ['sharp', '@electric-sql/pglite', '@electric-sql/pglite-pgvector', 'libheif-js', 'onnxruntime-node'];
const fontScope = '@fontsource';
/** Fastify loads these on first use, and Atelier replaces them. */
const unusedByFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];
/** Commands for the sources, which a release does not have. */
const commandsOfCheckout = /^(bench|build.*|postinstall|check|dev|generate|licenses|measure|soak|test)$/;

/** `kind` is `builds`, or `modules`: each module as a file of its own, which only tests and benchmarks import. */
const cacheOf = (root, kind) => join(root, 'node_modules/.cache/atelier', kind);
/** Pages have a build of their own, and tests are not part of the program. */
const isOutside = (path) =>
  /[\\/]console[\\/]web$|[\\/]client[\\/]tsconfig\.json$|\.(test|d)\.ts$|[\\/]goldens\.json$/.test(path);

/** Returns the folder of the build, which is created first if it is missing. Throws an Error with the reason if it cannot be. */
export function findBuild(root = here, onMissing = () => undefined, kind = 'builds') {
  const folder = join(cacheOf(root, kind), keyOf(root));
  if (fs.existsSync(folder)) {
    markAsUsed(folder);
    return folder;
  }
  onMissing();
  // A process of its own: the one of esbuild would stay a zombie of the launcher, which becomes the program.
  const { status, error, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), root, kind], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error((stderr || String(error ?? 'The build failed.')).trim(), { cause: error });
  return folder;
}

/** Creates the build if it is missing, and links `dist` to the program. */
async function createBuild(root = here, kind = 'builds') {
  const key = keyOf(root);
  const folder = join(cacheOf(root, kind), key);
  if (!fs.existsSync(folder)) {
    const draft = `${folder}.${randomUUID()}`;
    try {
      fs.mkdirSync(draft, { recursive: true });
      if (kind === 'modules') await writeModules(root, draft, join(cacheOf(root, 'builds'), key));
      else await writeProgram(root, draft);
      fs.renameSync(draft, folder);
    } catch (error) {
      fs.rmSync(draft, { recursive: true, force: true });
      // Another process may have finished the same build first.
      if (!fs.existsSync(folder)) throw error;
    }
    removeOld(cacheOf(root, kind));
  }
  if (kind === 'builds') link(root, folder);
  return folder;
}

/** Reads the files only if one has changed since the last time: reading takes a tenth of a start. */
function keyOf(root) {
  const names = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json', 'build.mjs', 'launch.mjs'];
  const paths = [...names.map((name) => join(root, name)).filter(fs.existsSync), ...sourcesIn(join(root, 'src'))];
  /** Of the paths, and of what `read` returns of each. */
  const digest = (read) => {
    const hash = createHash('sha256');
    for (const path of paths) hash.update(`\n${relative(root, path)}\n`).update(read(path));
    return hash.digest('hex').slice(0, 32);
  };
  const states = digest((path) => {
    const { size, ctimeMs, ino } = fs.statSync(path);
    return `${size} ${ctimeMs} ${ino}`;
  });
  const memo = join(root, 'node_modules/.cache/atelier/buildkey');
  const [knownStates, known] = readIfPresent(memo)?.split(' ') ?? [];
  if (known !== undefined && knownStates === states) return known;
  const key = digest((path) => fs.readFileSync(path));
  remember(memo, `${states} ${key}`);
  return key;
}

function remember(path, content) {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    const draft = `${path}.${randomUUID()}`;
    fs.writeFileSync(draft, content);
    fs.renameSync(draft, path);
  } catch {
    // A read-only installation reads its files at each start.
  }
}

function sourcesIn(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (isOutside(path)) return [];
      return entry.isDirectory() ? sourcesIn(path) : [path];
    });
}

async function writeProgram(root, folder) {
  const sources = join(root, 'src');
  const entryPoints = [join(sources, 'main.ts'), ...programsIn(sources)];
  // A chunk is in another folder than its modules, so the URL starts at the root of the build.
  const urlOf = (path) => `new URL(${JSON.stringify(path)}, $toUrl($findRoot(import.meta.url))).href`;
  writeLicenses(root, folder, await bundle(root, folder, entryPoints, urlOf));
  copyFiles(root, folder);
  copyFonts(root, folder);
  writeManifest(root, folder);
}

/** Their threads, processes and files are those of the program in the folder `build`. */
async function writeModules(root, folder, build) {
  const sources = join(root, 'src');
  const urlOf = (path) => JSON.stringify(pathToFileURL(join(build, path)).href);
  await bundle(root, folder, modulesIn(sources), urlOf, [
    { name: 'modules', setup: (building) => keepModules(building, sources) },
  ]);
}

const modulesIn = (sources) => sourcesIn(sources).filter((path) => path.endsWith('.ts'));

/** The threads and processes that the sources name by a URL. */
const programUrl = /(new URL\(\s*['"])([^'"]+)\.ts(['"],\s*import\.meta\.url)/g;

const programsIn = (sources) => [
  ...new Set(
    modulesIn(sources).flatMap((path) =>
      [...fs.readFileSync(path, 'utf8').matchAll(programUrl)].map(([, , name]) => resolve(dirname(path), `${name}.ts`)),
    ),
  ),
];

/** `urlOf` returns the expression for `import.meta.url` in the module of a path in the build. */
async function bundle(root, folder, entryPoints, urlOf, plugins = []) {
  const sources = join(root, 'src');
  const { build, stop } = await import('esbuild');
  try {
    const { metafile } = await build({
      entryPoints,
      outbase: sources,
      outdir: folder,
      absWorkingDir: root,
      bundle: true,
      splitting: true,
      chunkNames: 'chunks/[name]-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node22',
      outExtension: { '.js': '.mjs' },
      sourcemap: 'linked',
      sourcesContent: false,
      legalComments: 'none',
      external: [...unbundled.flatMap((name) => [name, `${name}/*`]), ...unusedByFastify],
      define: { 'process.env.ATELIER_COMMIT': JSON.stringify(commitOf(root)) },
      banner: {
        js: [
          "import { createRequire as $createRequire, findPackageJSON as $findRoot } from 'node:module';",
          "import { pathToFileURL as $toUrl } from 'node:url';",
          // Packages in CommonJS call it for Node's own modules.
          'const require = $createRequire(import.meta.url);',
        ].join(' '),
      },
      plugins: [...plugins, { name: 'urls', setup: (building) => placeUrls(building, sources, urlOf) }],
      metafile: true,
      logLevel: 'silent',
    });
    return metafile;
  } finally {
    await stop();
  }
}

/** Leaves imports between modules of the sources as they are, except for the extension. */
function keepModules(building, sources) {
  building.onResolve({ filter: /^[#.].*\.ts$/ }, ({ path, importer, resolveDir }) => {
    if (!importer.startsWith(sources + sep)) return undefined;
    const target = path.startsWith('#') ? join(sources, path.slice(1)) : resolve(resolveDir, path);
    const built = relative(resolveDir, target).replaceAll(sep, '/').replace(/\.ts$/, '.mjs');
    return { path: built.startsWith('.') ? built : `./${built}`, external: true };
  });
}

/** Files that a module names by URL are where they would be if the build had a file for each module. */
function placeUrls(building, sources, urlOf) {
  building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    if (!path.startsWith(sources + sep)) return undefined;
    const source = fs.readFileSync(path, 'utf8');
    const url = urlOf(relative(sources, path).replaceAll(sep, '/').replace(/\.ts$/, '.mjs'));
    return { loader: 'ts', contents: source.replace(programUrl, '$1$2.mjs$3').replaceAll('import.meta.url', url) };
  });
}

/** Copies what the program reads by URL: migrations, pages, tables. */
function copyFiles(root, folder) {
  const sources = join(root, 'src');
  for (const path of sourcesIn(sources)) {
    // Modules are in the bundle.
    if (/\.m?ts$|\.mjs$/.test(path)) continue;
    const target = join(folder, relative(sources, path));
    fs.mkdirSync(dirname(target), { recursive: true });
    fs.copyFileSync(path, target);
  }
  for (const name of ['launch.mjs', 'LICENSE', '.npmrc'])
    if (fs.existsSync(join(root, name))) fs.copyFileSync(join(root, name), join(folder, name));
}

/** Copies the bold fonts that src/image/engine/fonts.ts reads. The packages have all weights, which take 20 times the space. */
function copyFonts(root, folder) {
  for (const name of fontsOf(root)) {
    const source = join(root, 'node_modules', fontScope, name);
    const target = join(folder, 'image/engine/fonts', name);
    fs.mkdirSync(join(target, 'files'), { recursive: true });
    const files = fs.readdirSync(join(source, 'files')).filter((file) => file.endsWith('-700-normal.woff'));
    for (const path of ['unicode.json', ...files.map((file) => `files/${file}`)])
      fs.copyFileSync(join(source, path), join(target, path));
  }
}

function fontsOf(root) {
  const { dependencies = {} } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(dependencies).flatMap((name) =>
    name.startsWith(`${fontScope}/`) ? [name.slice(fontScope.length + 1)] : [],
  );
}

/** Names the packages that stay outside, at the versions of the lockfile, so that `npm ci` in the build installs them. */
function writeManifest(root, folder) {
  const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const lock = readIfPresent(join(root, 'package-lock.json'));
  const { packages = {} } = lock === undefined ? {} : JSON.parse(lock);
  const kept = unbundled.filter((name) => manifest.dependencies?.[name] !== undefined);
  const { name, version, license, type, engines, peerDependencies, peerDependenciesMeta } = manifest;
  const own = {
    name,
    version,
    license,
    private: true,
    type,
    engines,
    dependencies: Object.fromEntries(kept.map((each) => [each, manifest.dependencies[each]])),
    peerDependencies,
    peerDependenciesMeta,
  };
  const scripts = Object.entries(manifest.scripts ?? {}).filter(([each]) => !commandsOfCheckout.test(each));
  const write = (path, content) => fs.writeFileSync(join(folder, path), `${JSON.stringify(content, undefined, 2)}\n`);
  write('package.json', { ...own, scripts: Object.fromEntries(scripts), commit: commitOf(root) });
  write('package-lock.json', {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': own, ...lockedClosure(packages, kept) },
  });
}

/** Returns the entries of the lockfile that the packages need, by their paths. */
function lockedClosure(packages, names) {
  const found = {};
  const add = (name, dependent) => {
    // Node looks in the folder of the dependent first, then in those around it.
    for (let folder = dependent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
      const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
      const entry = packages[path];
      if (entry === undefined && folder !== '') continue;
      if (entry === undefined || path in found) return;
      found[path] = entry;
      for (const each of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) add(each, path);
      return;
    }
  };
  for (const name of names) add(name, '');
  return Object.fromEntries(Object.entries(found).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Collects the license texts of the packages that the build contains. Their licenses require it. */
function writeLicenses(root, folder, { inputs }) {
  const packages = [
    ...Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
    ...fontsOf(root).map((name) => `node_modules/${fontScope}/${name}`),
  ];
  const texts = [...new Set(packages)].sort().map((path) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(join(root, path, 'package.json'), 'utf8'));
    const content = fs
      .readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name))
      .map((entry) => fs.readFileSync(join(root, path, entry.name), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...content].join('\n\n');
  });
  fs.writeFileSync(join(folder, 'third-party-licenses.txt'), `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

/** Images are built without the repository, so they pass the commit. */
function commitOf(root) {
  if (process.env.ATELIER_COMMIT) return process.env.ATELIER_COMMIT;
  try {
    const words = ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=40'];
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    // An archive of the sources, or a machine without git.
    return 'unknown';
  }
}

function readIfPresent(path) {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : undefined;
}

function markAsUsed(folder) {
  try {
    const now = new Date();
    fs.utimesSync(folder, now, now);
  } catch {
    // A read-only installation keeps all its builds.
  }
}

function removeOld(builds) {
  const byUse = fs
    .readdirSync(builds)
    .map((name) => join(builds, name))
    .map((path) => ({ path, usedAt: fs.statSync(path).mtimeMs }))
    .sort((left, right) => right.usedAt - left.usedAt);
  for (const { path } of byUse.slice(buildsKept)) fs.rmSync(path, { recursive: true, force: true });
}

/** Replaces the link in one step. */
function link(root, folder) {
  const path = join(root, 'dist');
  if (fs.existsSync(path) && fs.realpathSync(path) === fs.realpathSync(folder)) return;
  const draft = `${path}.${randomUUID()}`;
  fs.symlinkSync(process.platform === 'win32' ? folder : relative(root, folder), draft, 'junction');
  fs.renameSync(draft, path);
}

if (process.argv[1]?.endsWith('build.mjs') && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    console.log(await createBuild(process.argv[2], process.argv[3]));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
