/** Parses and checks Prometheus' text format: https://prometheus.io/docs/practices/naming/ and instrumenting/exposition_formats. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[];
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (N[aA][nN]|[+-]Inf|-?[\d.]+(?:e[+-]?\d+)?)(?: \d+)?$/;

/** Throws for an invalid line, and for a sample without HELP and TYPE before it. */
export function readFamilies(text: string): ReadonlyMap<string, Family> {
  const families = new Map<
    string,
    { name: string; help: string; type: string; samples: Family['samples'][number][] }
  >();
  for (const line of text.split('\n').filter((some) => some !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} appears twice`);
      families.set(name, { name, help: rest, type: '', samples: [] });
    } else if (kind === 'TYPE') {
      const family = families.get(name);
      if (family === undefined) throw new Error(`${name} has no HELP`);
      family.type = rest;
    } else {
      const [, sample = '', labels = ''] = sampleLine.exec(line) ?? [];
      const family = families.get(sample) ?? families.get(sample.replace(/_(bucket|sum|count)$/, ''));
      if (sample === '' || family === undefined || family.type === '') throw new Error(`invalid line: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((pair) => [pair[1], pair[2]]);
      family.samples.push({ name: sample, labels: Object.fromEntries(pairs) });
    }
  }
  return families;
}

/** Returns the naming conventions that a family violates. */
export function faultsOf({ name, help, type, samples }: Family): readonly string[] {
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  return [
    ...(/^[a-z][a-z0-9_]*$/.test(name) ? [] : ['not in snake_case']),
    ...(/\w/.test(help) ? [] : ['no help']),
    ...((type === 'counter') === name.endsWith('_total')
      ? []
      : [`a ${type}, and ${name.endsWith('_total') ? '' : 'not '}_total`]),
    ...(/_(ms|milliseconds|minutes|kb|mb|kilobytes|megabytes|percent)(_|$)/.test(name) ? ['not in base units'] : []),
    ...([...labels].every((label) => /^[a-z][a-z0-9_]*$/.test(label)) ? [] : ['a label not in snake_case']),
    ...(name !== 'agent_tool_calls_total' && [...labels].some((label) => name.split('_').includes(label))
      ? ['a label is in its name']
      : []),
  ];
}
