/** The alerts and the dashboard measure the time of responses without those that last as long as their client wants. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { longLived } from '#console/history/history.ts';
import { root } from '../acceptance/running.fixture.ts';

const transfers = ['/o/*', '/tus/*'];

it.each(['deploy/alerts.yml', 'deploy/grafana-dashboard.json'])('%s leaves out streams and transfers', async (path) => {
  const text = (await readFile(join(root, path), 'utf8')).replaceAll('\\"', '"');
  const left = [...text.matchAll(/route!~?"([^"]*)"/g)].map(([, routes = '']) => new RegExp(`^(?:${routes})$`));
  expect(left.length).toBeGreaterThan(0);
  for (const routes of left) expect([...longLived, ...transfers].filter((route) => !routes.test(route))).toEqual([]);
});
