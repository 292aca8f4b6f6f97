/** Regular expressions run on text that users send. Their run time must be linear in its length. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { longestStatement, rewrite } from '#memory/merging/canonical.ts';
import { lexicons } from '#memory/merging/lexicon.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter(
  (path) => !/\.(test|testing)\.ts$|\/conformance(-\w+)?\.ts$/.test(path),
);

/** Its expressions are compiled for the first text of a language, and see short texts only. */
const bounded = join('src/memory/merging/canonical.ts');

interface Expression {
  readonly source: string;
  readonly flags: string;
}

interface Found {
  readonly literals: readonly Expression[];
  /** The number of expressions created with `RegExp(…)`. */
  readonly made: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function findIn(path: string, text: string): Found {
  const literals: Expression[] = [];
  let made = 0;
  const queue: unknown[] = [parseSync(path, text).program];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (!isObject(node)) continue;
    queue.push(...Object.values(node));
    const { type, regex, callee } = node;
    if (type === 'Literal' && isObject(regex))
      literals.push({ source: String(regex.pattern), flags: String(regex.flags) });
    if (isObject(callee) && callee.type === 'Identifier' && callee.name === 'RegExp') made += 1;
  }
  return { literals, made };
}

/** Records the expressions that a module creates with `RegExp(…)` while it loads. */
async function recordIn(path: string): Promise<readonly Expression[]> {
  const made: Expression[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags = '']: [string | RegExp, string?]) {
      const expression = new target(source, flags);
      made.push(expression);
      return expression;
    },
  });
  try {
    // A query makes the name unique, because other tests may have loaded the module already.
    await import(/* @vite-ignore */ `${join(root, path)}?expressions`);
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}

function faultsOf({ source, flags }: Expression): readonly string[] {
  const { reports } = analyse({ source, flags });
  return reports.map(({ type, character }) => `/${source}/${flags}: ${type} on ${character.literal.source}`);
}

describe('regular expressions', () => {
  const found = files.map((path) => ({ path, ...findIn(path, readFileSync(join(root, path), 'utf8')) }));

  it('needs linear time in every literal of the source', () => {
    const literals = found.flatMap(({ literals }) => literals);
    expect(literals.length).toBeGreaterThan(100);
    expect(
      found.flatMap(({ path, literals }) => literals.flatMap(faultsOf).map((fault) => `${path}: ${fault}`)),
    ).toEqual([]);
  });

  const makers = found.filter(({ path, made }) => made > 0 && path !== bounded);
  it.each(makers)('needs linear time in expressions that $path builds from parts', async ({ path, made }) => {
    const recorded = await recordIn(path);
    // An expression that a function creates later cannot be checked here. Create it when the module loads.
    expect(recorded.length).toBeGreaterThanOrEqual(made);
    expect(recorded.flatMap(faultsOf)).toEqual([]);
  });

  it(`see at most 160 characters in ${bounded}, whose rules for statements are not linear`, () => {
    const lexicon = lexicons().byCode.get('en');
    if (lexicon === undefined) throw new Error('the lexicon is missing');
    expect(longestStatement).toBeLessThanOrEqual(160);
    expect(rewrite('a'.repeat(longestStatement), lexicon)).toHaveLength(1);
    for (const length of [longestStatement + 1, 32_768]) expect(rewrite('a'.repeat(length), lexicon)).toEqual([]);
  });

  it.each([
    // Quadratic: two neighbors match the same characters.
    /\bremember\b(?:\s+that)?[\s:,]+(.+?)(?=$|[.!?;\n]|\s+and\s+(?:then\s+)?(?:make|create|draw)\b)/i,
    // Quadratic: each position of a run starts a separate attempt.
    /[\s.!,;:]+$/u,
    /^(?:a+)+$/,
  ])('is rejected if it is %s', (expression) => {
    expect(faultsOf(expression)).not.toEqual([]);
  });
});
