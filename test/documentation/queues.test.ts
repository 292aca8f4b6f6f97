/** docs/jobs.md lists every queue that the code declares, and no other. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';

const files = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) => !/\.(?:test|fixture|child|conformance)\.ts$/.test(file),
);

/** `service queue`: the folder of the declaration is that of the service whose workers take its jobs. */
const declared = files.flatMap((file) => {
  const [, service = ''] = file.split('/');
  const declaration = /(?:Queue<[^;]*?\bname: |\bmailQueueOf\()(?:'([^']+)'|`([^`]+)`)/g;
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(declaration)].map(([, name, template]) => {
    const queue = name ?? template?.replaceAll(/\$\{(\w+)\}/g, '<$1>');
    return `${service} ${queue}`;
  });
});

const listed = readFileSync(join(root, 'docs/jobs.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, queue, service] = /^\| `([^`]+)` +\| (\w+) /.exec(line) ?? [];
    return queue === undefined ? [] : [`${service} ${queue}`];
  });

it('docs/jobs.md lists the queues of the code, each with its service', () => {
  expect(declared.length).toBeGreaterThan(5);
  expect(listed.toSorted()).toEqual(declared.toSorted());
});
