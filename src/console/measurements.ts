/** Parses the part of the Prometheus text format that the overview needs. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Skips lines that are not samples. */
export function parseSamples(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line);
    if (match === null || match[1] === undefined) return [];
    const value = Number(match[3]);
    return Number.isFinite(value) ? [{ name: match[1], labels: parseLabels(match[2] ?? ''), value }] : [];
  });
}

function parseLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/\b([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_all, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );
}
