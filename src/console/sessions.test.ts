import { expect, it } from 'vitest';
import { createRoles } from './operators/roles.ts';
import { createSessions } from './sessions.ts';

const token = 'a token of the tests';
const clock = { nowMs: Date.UTC(2026, 0, 1), now: () => clock.nowMs };
const roles = createRoles({ full: [], readers: [] });
const cookieOf = (line: string) => line.split(';')[0] ?? '';

it('is valid for a week, and not a second longer', () => {
  const sessions = createSessions(token, false, clock, roles);
  const cookie = cookieOf(sessions.begin(token));
  expect(sessions.find(cookie)).toEqual({ name: 'console', role: 'full' });
  expect(sessions.find(`other=1; ${cookie}; third=2`)).toEqual({ name: 'console', role: 'full' });
  clock.nowMs += 7 * 24 * 3_600_000 - 1;
  expect(sessions.find(cookie)).toEqual({ name: 'console', role: 'full' });
  clock.nowMs += 1;
  expect(sessions.find(cookie)).toBeUndefined();
});

it('is valid only for the token that it started with', () => {
  const cookie = cookieOf(createSessions(token, false, clock, roles).begin(token));
  expect(createSessions(token, false, clock, roles).find(cookie)).toEqual({ name: 'console', role: 'full' });
  expect(createSessions('another token of the tests', false, clock, roles).find(cookie)).toBeUndefined();
});

it('cannot be extended by its holder', () => {
  const sessions = createSessions(token, false, clock, roles);
  const [expiry = '', signature = ''] = cookieOf(sessions.begin(token)).replace('atelier_console=', '').split('.');
  expect(sessions.find(`atelier_console=${Number(expiry) + 1}.${signature}`)).toBeUndefined();
  expect(sessions.find(`atelier_console=${expiry}.`)).toBeUndefined();
});

it('does not start without a token', () => {
  const sessions = createSessions('', false, clock, roles);
  expect(() => sessions.begin('')).toThrow('token');
});

it('requires https if the console uses https', () => {
  expect(createSessions(token, true, clock, roles).begin(token)).toMatch(/; Secure$/);
});
