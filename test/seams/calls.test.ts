/** docs/security.md lists every request that the server makes, and nothing else. */
import { describe, expect, it } from 'vitest';
import { findRequests } from './source.fixture.ts';
import { calls, otherRequests } from './table.fixture.ts';

const found = findRequests();

describe('calls between services', () => {
  it('are all in the table, and the table has no others', () => {
    const made = found.flatMap(({ file, endpoints }) => endpoints.map((endpoint) => `${file}: ${endpoint}`));
    const listed = new Set(calls.map(({ file, endpoint }) => `${file}: ${endpoint}`));
    expect(made.length).toBeGreaterThan(10);
    expect([...listed].sort()).toEqual(made.sort());
  });

  it('have rights that exist', () => {
    expect(calls.filter(({ rights }) => !['user', 'server', 'operator', 'none'].includes(rights))).toEqual([]);
  });
});

it('all other requests are in their table, and the table has no others', () => {
  const made = found.filter(({ hasOthers }) => hasOthers).map(({ file }) => file);
  expect([...otherRequests].sort()).toEqual(made.sort());
});
