/** The rules of the source tree (ARCHITECTURE.md), checked on the source: allowed imports and file names. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge'];

interface SourceFile {
  /** Relative to src/, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** Imported files in src/, in the same form. Includes type imports. */
  readonly imports: readonly string[];
  readonly importsValues: readonly string[];
  readonly text: string;
}

const files: readonly SourceFile[] = globSync('src/**/*.ts', { cwd: root })
  .map((path) => relative('src', path).split('\\').join('/'))
  .filter((path) => !/\.test\.ts$/.test(path) && !path.includes('/web/'))
  .map(readSource);
const byPath = new Map(files.map((file) => [file.path, file]));

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, 'src', path), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm),
  ].flatMap((match) => {
    const target = resolve(path, match[2] ?? match[3] ?? '');
    return target === undefined ? [] : [{ target, isType: match[1] !== undefined }];
  });
  return {
    path,
    text,
    lines: text.split('\n').length,
    imports: found.map(({ target }) => target),
    importsValues: found.filter(({ isType }) => !isType).map(({ target }) => target),
  };
}

function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  return undefined;
}

const imports = files.flatMap((file) => file.imports.map((to) => ({ from: file.path, to })));
const room = (path: string) => path.split('/')[0] ?? '';
const describeImports = (found: readonly { from: string; to: string }[]) =>
  found.map(({ from, to }) => `${from} → ${to}`);

describe('import directions', () => {
  it('finds source files and imports', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  it('every import inside src/ leads to a file', () => {
    expect(
      describeImports(
        imports.filter(({ to }) => to.endsWith('.ts') && to.startsWith('..') === false && !byPath.has(to)),
      ),
    ).toEqual([]);
  });

  it('the platform imports no service', () => {
    expect(
      describeImports(
        imports.filter(({ from, to }) => room(from) === 'platform' && room(to) !== 'platform' && !to.startsWith('..')),
      ),
    ).toEqual([]);
  });

  it('accounts imports only the platform', () => {
    expect(
      describeImports(
        imports.filter(({ from, to }) => room(from) === 'accounts' && !['accounts', 'platform'].includes(room(to))),
      ),
    ).toEqual([]);
  });

  it('a service imports only an api.ts of another service; edge and media may use the image engine', () => {
    const foreign = imports.filter(({ from, to }) => {
      if (!services.includes(room(from)) || !services.includes(room(to)) || room(from) === room(to)) return false;
      if (to.endsWith('/api.ts')) return false;
      return !(to.startsWith('image/engine/') && ['edge', 'media'].includes(room(from)));
    });
    expect(describeImports(foreign)).toEqual([]);
  });

  it('a service imports neither the app nor the commands nor the stand-ins', () => {
    const upward = imports.filter(
      ({ from, to }) =>
        services.includes(room(from)) && (to === 'main.ts' || ['app', 'commands', 'local'].includes(room(to))),
    );
    expect(describeImports(upward)).toEqual([]);
  });

  it('the client runs in browsers: it imports only types of the server, and nothing of Node', () => {
    const client = files.filter(({ path }) => room(path) === 'client');
    expect(client.length).toBeGreaterThan(3);
    const foreign = client.flatMap(({ path, importsValues }) =>
      importsValues.filter((to) => room(to) !== 'client').map((to) => `${path} → ${to}`),
    );
    expect(foreign).toEqual([]);
    expect(
      client.filter(({ text }) => /from 'node:|\bprocess\.|(?<!')\bBuffer\b/.test(text)).map(({ path }) => path),
    ).toEqual([]);
  });

  it('only the wiring imports the stand-ins', () => {
    // The settings of stand-ins are declared beside them and read with all others.
    const allowed = ({ from, to }: { from: string; to: string }) =>
      from.startsWith('app/wiring/') || (from === 'app/settings.ts' && to.endsWith('/config.ts'));
    expect(
      describeImports(
        imports.filter((edge) => room(edge.to) === 'local' && room(edge.from) !== 'local' && !allowed(edge)),
      ),
    ).toEqual([]);
  });

  it('only open.ts imports drivers', () => {
    const drivers = files
      .map(({ path }) => path)
      .filter((path) =>
        /^platform\/(db\/(pglite|postgres)|objects\/(filesystem|s3)|(cache|pubsub)\/(memory|redis))\.ts$/.test(path),
      );
    expect(drivers.length).toBeGreaterThan(2);
    const outside = imports.filter(({ from, to }) => drivers.includes(to) && posix.basename(from) !== 'open.ts');
    expect(describeImports(outside)).toEqual([]);
  });

  it('there is no import cycle', () => {
    expect(findCircle()).toBeUndefined();
  });
});

describe('rooms', () => {
  it('only stores, migrations and the platform contain SQL', () => {
    const writers = files.filter(
      ({ path, text }) =>
        /\bsql`|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(text) && room(path) !== 'platform',
    );
    expect(writers.map(({ path }) => path).filter((path) => !path.endsWith('store.ts'))).toEqual([]);
  });

  it('files are named after their feature, have at most 600 lines, and are at most three folders deep', () => {
    expect(
      files
        .filter(({ path }) => /(^|\/)(utils?|helpers?|common|misc|index|types)\.ts$/.test(path))
        .map(({ path }) => path),
    ).toEqual([]);
    // Generated from the OpenAPI documents (tools/generate).
    const isGenerated = (path: string) => /^client\/\w+\/(api|calls)\.ts$/.test(path);
    const long = files.filter(({ path, lines }) => lines > 600 && !isGenerated(path));
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
    expect(files.filter(({ path }) => path.split('/').length > 4).map(({ path }) => path)).toEqual([]);
  });

  it('guards use the matched route: only the listed files read the raw URL', () => {
    // Signatures cover the exact bytes that were sent. Redirects repeat them.
    const readers = ['auth/routes.ts', 'console/origins.ts', 'edge/targets.ts'];
    const sent = [
      /\b(request|req|raw|incoming|message)\??\.(raw\.)?url\b/,
      /\boriginalUrl\b/,
      // Destructured from a request, in parameters and in declarations.
      /\{[^{}]*\burl\b[^{}]*\}\s*(:\s*(FastifyRequest|IncomingMessage|Pick<(FastifyRequest|IncomingMessage))|=\s*(request|req|raw|incoming|message)\b)/,
      /\braw:\s*\{[^{}]*\burl\b/,
      /\bmethod\?:[^{}]*\burl\?:\s*string\b/,
    ];
    const found = files.filter(({ text }) => sent.some((pattern) => pattern.test(text))).map(({ path }) => path);
    expect(found.sort()).toEqual(readers);
  });

  it('every outgoing request has the User-Agent of Atelier', () => {
    const isServerCode = ({ path }: SourceFile) =>
      !['client/', 'platform/version.ts'].some((start) => path.startsWith(start));
    const sends = /(?<![\w.])fetch\(|\bpool\.request\(|(?<![\w.])request\(url|createOpenAICompatible\(/;
    const unnamed = files.filter(
      (file) => isServerCode(file) && sends.test(file.text) && !/userAgent|outgoingFetch/.test(file.text),
    );
    expect(unnamed.map(({ path }) => path)).toEqual([]);
  });

  it('test support is in test/, named for its kind', () => {
    const support = /\.(fixture|child|conformance|testing)\.ts$|(^|\/)(test|conformance)-[\w-]+\.ts$/;
    expect(files.filter(({ path }) => support.test(path)).map(({ path }) => path)).toEqual([]);
    const programs = ['test/plain-summary.ts', 'test/runner/', 'test/soak/', 'test/client/'];
    const unnamed = globSync('test/**/*.ts', { cwd: root })
      .map((path) => path.split('\\').join('/'))
      .filter((path) => !/\.(test|fixture|child|conformance)\.ts$/.test(path))
      .filter((path) => !programs.some((start) => path.startsWith(start)));
    expect(unnamed).toEqual([]);
  });

  it('no code bypasses the type checker', () => {
    const marks = new RegExp(
      ['@ts-' + 'ignore', '@ts-' + 'nocheck', 'biome-' + 'ignore', '\\bas any\\b', ': any\\b'].join('|'),
    );
    expect(files.filter(({ text }) => marks.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe('lockfiles', () => {
  // npm can write a lockfile without optional packages of other platforms, which `npm ci` then rejects.
  it.each(['package-lock.json', 'bench/package-lock.json'])('%s names every package for every platform', (path) => {
    const { packages } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
    };
    const names = new Set(Object.keys(packages).map((place) => place.split('node_modules/').at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    expect(names.size).toBeGreaterThan(100);
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('docs/walks.md', () => {
  const walks = readFileSync(join(root, 'docs/walks.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split('\n')[0] ?? '',
      steps: [...section.matchAll(/^\d+\. `src\/([^`]+)`/gm)].map((match) => match[1] ?? ''),
    }));

  it.each(walks)('$title: at most eight files, each reached from one before it', ({ steps }) => {
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.length).toBeLessThanOrEqual(8);
    const lost = steps
      .slice(1)
      .filter((step, index) => !steps.slice(0, index + 1).some((earlier) => reaches(earlier, step)));
    expect(lost).toEqual([]);
  });

  it('includes an upload and the signing of a batch', () => {
    expect(walks.length).toBeGreaterThanOrEqual(2);
  });
});

/** Follows imports, including through an interface file to its driver (`objects.ts`). */
function reaches(from: string, to: string): boolean {
  const seen = new Set<string>();
  const queue = [from];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (path === to) return true;
    if (seen.has(path)) continue;
    seen.add(path);
    queue.push(...(byPath.get(path)?.imports ?? []));
  }
  // Users import an interface and not its driver, so the interface represents the driver.
  const doorway = files.find(
    ({ path, imports }) => (posix.basename(path) === 'open.ts' || path === 'app/engines.ts') && imports.includes(to),
  );
  return doorway?.imports.some((interfaceFile) => interfaceFile !== to && seen.has(interfaceFile)) ?? false;
}

/** Includes the pages of the console, and imports of types: a reader follows both. */
function findCircle(): string | undefined {
  const graph = new Map(
    globSync('src/**/*.{ts,tsx}', { cwd: root })
      .map((path) => relative('src', path).split('\\').join('/'))
      .filter((path) => !/\.test\.ts$|\/dist\//.test(path))
      .map((path) => [path, readSource(path).imports]),
  );
  const state = new Map<string, 'open' | 'done'>();
  const visit = (path: string, trail: readonly string[]): string | undefined => {
    if (state.get(path) === 'done') return undefined;
    if (state.get(path) === 'open') return [...trail.slice(trail.indexOf(path)), path].join(' → ');
    state.set(path, 'open');
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next, [...trail, path]);
      if (circle !== undefined) return circle;
    }
    state.set(path, 'done');
    return undefined;
  };
  for (const path of graph.keys()) {
    const circle = visit(path, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
