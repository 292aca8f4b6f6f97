/** Reads `GET /metrics` of a service. */
import { expect } from 'vitest';

export interface Metrics {
  /** Of the series with these labels among others; `undefined` if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

export async function metricsAt(url: string): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n');
  return {
    value(name, labels = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const line = lines.find(
        (candidate) =>
          (candidate.startsWith(`${name}{`) || candidate.startsWith(`${name} `)) &&
          wanted.every((pair) => candidate.includes(pair)),
      );
      return line === undefined ? undefined : Number(line.split(' ').at(-1));
    },
  };
}
